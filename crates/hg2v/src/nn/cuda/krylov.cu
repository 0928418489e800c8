// K = [g, Ãg, …, Ãᵃg] on one level: see krylov.rs. Rows of Ã are summed in the order
// of their columns by both kernels, so which of them runs changes no bit.

typedef unsigned u32;
typedef unsigned long long u64;

// Columns of a graph that one block keeps close.
#define KRYLOV_COLUMNS 8

// All hops of one graph and a few of its columns. Forwards, K_j = Ã·K_{j−1} fills
// blocks 1 to `hops`; backwards, dK_{j−1} ← dK_{j−1} + Ã·dK_j is left in block 0.
extern "C" __global__ void krylov_graphs(const u32* graphs, const u32* offsets, const u32* targets,
                                         const float* values, u32 width, u32 hops, u64 stride,
                                         u32 backward, float* k) {
  extern __shared__ float rows[];
  const u32 first = graphs[blockIdx.x], n = graphs[blockIdx.x + 1] - first;
  const u32 column = blockIdx.y * KRYLOV_COLUMNS + threadIdx.x;
  const bool live = column < width;
  float* mine = k + first * stride + column;
  float* from = rows;
  float* to = rows + (u64)n * KRYLOV_COLUMNS;
  const u64 begin = backward ? (u64)hops * width : 0;
  for (u32 u = threadIdx.y; u < n; u += blockDim.y)
    from[u * KRYLOV_COLUMNS + threadIdx.x] = live ? mine[u * stride + begin] : 0.f;
  __syncthreads();
  for (u32 hop = 1; hop <= hops; ++hop) {
    const u32 block = backward ? hops - hop : hop;
    const bool put = live && (!backward || block == 0);
    for (u32 u = threadIdx.y; u < n; u += blockDim.y) {
      float sum = 0.f;
      const u32 end = offsets[first + u + 1];
      for (u32 e = offsets[first + u]; e < end; ++e)
        sum = fmaf(values[e], from[(targets[e] - first) * KRYLOV_COLUMNS + threadIdx.x], sum);
      float* out = mine + u * stride + (u64)block * width;
      if (backward && live) sum = *out + sum;
      to[u * KRYLOV_COLUMNS + threadIdx.x] = sum;
      if (put) *out = sum;
    }
    __syncthreads();
    float* swap = from;
    from = to;
    to = swap;
  }
}

// One hop of all rows, for graphs that a block cannot hold.
extern "C" __global__ void krylov_hop(const u32* offsets, const u32* targets, const float* values,
                                      u32 nodes, u32 width, u64 stride, u32 from, u32 to, u32 add,
                                      float* k) {
  const u32 u = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (u >= nodes || column >= width) return;
  const float* source = k + (u64)from * width + column;
  float sum = 0.f;
  const u32 end = offsets[u + 1];
  for (u32 e = offsets[u]; e < end; ++e) sum = fmaf(values[e], source[targets[e] * stride], sum);
  float* out = k + u * stride + (u64)to * width + column;
  *out = add ? *out + sum : sum;
}
