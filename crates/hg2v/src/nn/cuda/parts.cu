// A matrix as tensor cores read it, in parts or rounded: see product.rs.

// x = high + low, exactly; high is x to the eleven digits that tensor cores read.
__device__ void halve(float x, float& high, float& low) {
  high = __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
  low = x - high;
}

// Row r of `to` is [low | high | high] of row r of `from`, or [high | low | high] if `second`;
// of column r if `transposed`. Blocks are 32 × 8 threads and do tiles of 32 × 32.
extern "C" __global__ void parts(const float* from, u64 stride, u32 rows, u32 inner,
                                 u32 transposed, u32 second, float* to, u64 to_stride) {
  __shared__ float tile[32][33];
  const u32 row0 = blockIdx.x * 32, inner0 = blockIdx.y * 32;
  for (u32 i = threadIdx.y; i < 32; i += 8) {
    if (transposed) {
      const u32 at = inner0 + i, row = row0 + threadIdx.x;
      if (at < inner && row < rows) tile[threadIdx.x][i] = from[at * stride + row];
    } else {
      const u32 row = row0 + i, at = inner0 + threadIdx.x;
      if (row < rows && at < inner) tile[i][threadIdx.x] = from[row * stride + at];
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.y; i < 32; i += 8) {
    const u32 row = row0 + i, at = inner0 + threadIdx.x;
    if (row >= rows || at >= inner) continue;
    float high, low;
    halve(tile[i][threadIdx.x], high, low);
    float* out = to + row * to_stride + at;
    out[0] = second ? high : low;
    out[inner] = second ? low : high;
    out[2 * (u64)inner] = high;
  }
}

// The numbers of `from` in bf16: the nearest, the even one of two.
extern "C" __global__ void round_bf16(const float* from, u64 stride, u32 rows, u32 columns,
                                      unsigned short* to, u64 to_stride) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const float x = from[row * stride + column];
  const u32 bits = __float_as_uint(x);
  to[row * to_stride + column] = x != x ? 0x7fc0 : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
