// H = Σ_r c_r ⊙ (R_r·g), the block of K after its hops: see relations.rs.

// Block `to` from block `from`: forwards H from g; backwards dg ← dg + Σ_r R_rᵀ·(c_r ⊙ dH), where
// an entry of R_rᵀ is one of relation r, or with `flip` of its other direction r ^ 1.
extern "C" __global__ void relations_hop(const u32* offsets, const u32* targets, const u32* kinds,
                                         const float* values, const float* c, u32 nodes, u32 width,
                                         u64 stride, u32 from, u32 to, u32 flip, u32 add,
                                         float* k) {
  const u32 u = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (u >= nodes || column >= width) return;
  const float* source = k + (u64)from * width + column;
  float sum = 0.f;
  const u32 end = offsets[u + 1];
  for (u32 e = offsets[u]; e < end; ++e) {
    const float factor = values[e] * c[(u64)(kinds[e] ^ flip) * width + column];
    sum = fmaf(factor, source[targets[e] * stride], sum);
  }
  float* out = k + u * stride + (u64)to * width + column;
  *out = add ? *out + sum : sum;
}

// dc_r = Σ_u Σ_v R_r(u, v)·g(v) ⊙ dH(u), for relation blockIdx.x and 8 columns. A thread adds every
// 128th entry of the relation, and their sums meet in pairs: an order that follows from the number
// of entries alone.
extern "C" __global__ void relations_vjp_c(const u32* starts, const u32* order, const u32* sources,
                                           const u32* targets, const float* values, u32 width,
                                           u64 stride, u32 block, const float* k, const float* dk,
                                           float* dc) {
  __shared__ float part[128][8];
  const u32 column = blockIdx.y * 8 + threadIdx.x;
  const u32 end = starts[blockIdx.x + 1];
  float sum = 0.f;
  if (column < width) {
    const float* dh = dk + (u64)block * width + column;
    for (u32 i = starts[blockIdx.x] + threadIdx.y; i < end; i += 128) {
      const u32 e = order[i];
      sum = fmaf(values[e] * k[targets[e] * stride + column], dh[sources[e] * stride], sum);
    }
  }
  part[threadIdx.y][threadIdx.x] = sum;
  for (u32 half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
  }
  if (threadIdx.y == 0 && column < width) dc[(u64)blockIdx.x * width + column] = part[0][threadIdx.x];
}
