// The hierarchical pair loss: see pairs.rs. Logits come as a tile of whole rows and
// leave as their gradients; a warp has a row.

#define JENSEN_SHANNON 0

__device__ inline double warp_sum(double x) {
  for (int half = 16; half > 0; half /= 2) x += __shfl_xor_sync(~0u, x, half);
  return x;
}

__device__ inline float warp_max(float x) {
  for (int half = 16; half > 0; half /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, half));
  return x;
}

// softplus(s) = ln(1 + eˢ), and its derivative in `sigmoid`.
__device__ inline float softplus(float s, float& sigmoid) {
  const float e = expf(-fabsf(s));
  sigmoid = __fdividef(s >= 0.f ? 1.f : e, 1.f + e);
  return fmaxf(s, 0.f) + log1pf(e);
}

// Which of `n` runs that start at `starts` has position `i`.
__device__ inline u32 run_of(const u32* starts, u32 n, u32 i) {
  u32 low = 0, high = n;
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (starts[middle] <= i) low = middle;
    else high = middle;
  }
  return low;
}

// Rows `first` to `first + rows` of the logits. `above` is null where all other
// super-nodes are negative. The two parts of each row's loss go into `losses`; with
// the last tile of a level (`level_rows` > 0) the block that ends last adds them up.
extern "C" __global__ void pair_rows(float* s, u32 first, u32 rows, u32 m, const u32* parents,
                                     const u32* graphs, const u32* above, u32 num_graphs, u32 score,
                                     float scale, double per_positive, double per_negative,
                                     double* losses, u32 level_rows, u32* blocks_done,
                                     double* total) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row < rows) {
    const u32 node = first + row, parent = parents[node];
    float* mine = s + (u64)row * m;
    u32 own = parent, own_end = parent + 1;
    if (above) {
      // A graph without nodes starts where the next does: the last of them is meant.
      const u32 graph = run_of(graphs, num_graphs, node);
      own = above[graph], own_end = above[graph + 1];
    }
    double positive, negative = 0.;
    if (score == JENSEN_SHANNON) {
      const float share = (float)per_negative;
      const float at = mine[parent];
      __syncwarp();
      // Four logits at a time are on their way.
      for (u32 start = lane; start < m; start += 128) {
        float logits[4];
#pragma unroll
        for (u32 i = 0; i < 4; ++i) logits[i] = start + 32 * i < m ? mine[start + 32 * i] : 0.f;
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
          const u32 v = start + 32 * i;
          if (v >= m) break;
          const bool ignored = v >= own && v < own_end;
          float slope;
          const float loss = softplus(logits[i], slope);
          if (!ignored) negative += loss;
          mine[v] = ignored ? 0.f : share * slope;
        }
      }
      __syncwarp();
      float slope;
      positive = (double)softplus(-at, slope) * per_positive;
      if (lane == 0) mine[parent] = -(float)per_positive * slope;
      negative = warp_sum(negative) * per_negative;
    } else {
      const float at = mine[parent] * scale;
      float most = at;
      for (u32 v = lane; v < m; v += 32)
        if (v < own || v >= own_end) most = fmaxf(most, mine[v] * scale);
      most = warp_max(most);
      double sum = 0.;
      for (u32 v = lane; v < m; v += 32) {
        const bool ignored = v >= own && v < own_end && v != parent;
        const float e = ignored ? 0.f : expf(mine[v] * scale - most);
        mine[v] = e;
        sum += e;
      }
      sum = warp_sum(sum);
      const float share = scale * (float)per_positive, each = share * (float)(1. / sum);
      for (u32 v = lane; v < m; v += 32) mine[v] = mine[v] * each - (v == parent ? share : 0.f);
      positive = -(double)at * per_positive;
      negative = ((double)most + log(sum)) * per_positive;
    }
    if (lane == 0) losses[2 * (u64)node] = positive, losses[2 * (u64)node + 1] = negative;
  }
  if (level_rows == 0) return;

  __shared__ bool last;
  __shared__ double part[2][256];
  const u32 thread = threadIdx.y * 32 + lane;
  __threadfence();
  __syncthreads();
  if (thread == 0) last = atomicAdd(blocks_done, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  double sums[2] = {0., 0.};
  for (u32 i = thread; i < level_rows; i += 256)
    for (u32 which = 0; which < 2; ++which) sums[which] += losses[2 * (u64)i + which];
  for (u32 which = 0; which < 2; ++which) part[which][thread] = sums[which];
  for (u32 half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half)
      for (u32 which = 0; which < 2; ++which) part[which][thread] += part[which][thread + half];
  }
  if (thread == 0) total[0] = part[0][0], total[1] = part[1][0], *blocks_done = 0;
}

// Rows of unit length, and the lengths they had; a row of zeros stays one.
extern "C" __global__ void unit_rows(const float* x, u64 stride, u32 rows, u32 columns,
                                     float* units, float* norms) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  double sum = 0.;
  for (u32 c = threadIdx.x; c < columns; c += 32) {
    const double v = x[row * stride + c];
    sum += v * v;
  }
  const float norm = (float)sqrt(warp_sum(sum)), scale = norm > 0.f ? 1.f / norm : 0.f;
  for (u32 c = threadIdx.x; c < columns; c += 32)
    units[(u64)row * columns + c] = x[row * stride + c] * scale;
  if (threadIdx.x == 0) norms[row] = norm;
}

// With û = x / ‖x‖: dx ← (dû − û·(û·dû)) / ‖x‖, added to dx where `add`.
extern "C" __global__ void unit_rows_vjp(const float* units, const float* norms, const float* du,
                                         u64 du_stride, u32 rows, u32 columns, u32 add, float* dx,
                                         u64 dx_stride) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float norm = norms[row];
  const float* unit = units + (u64)row * columns;
  double along = 0.;
  for (u32 c = threadIdx.x; c < columns; c += 32)
    along += (double)unit[c] * du[row * du_stride + c];
  along = warp_sum(along);
  for (u32 c = threadIdx.x; c < columns; c += 32) {
    const float d = norm > 0.f ? (du[row * du_stride + c] - unit[c] * (float)along) / norm : 0.f;
    float* out = dx + row * dx_stride + c;
    *out = add ? *out + d : d;
  }
}
