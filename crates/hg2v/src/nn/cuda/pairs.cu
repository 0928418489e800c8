// The hierarchical pair loss: see pairs.rs. Logits come as a tile of whole rows and
// leave as their gradients; a warp has a row. Where super-nodes were drawn, a column is
// one of theirs, ascending, and the positive pair's comes after them.

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

// The first of `n` ascending numbers that is not below `v`.
__device__ inline u32 place_of(const u32* numbers, u32 n, u32 v) {
  u32 low = 0, high = n;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (numbers[middle] < v) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Rows `first` to `first + rows` of the logits against `m` super-nodes: all `num_parents`, where
// `drawn` is null. `above` is null where all others are negative. The two parts of each row's
// loss go into `losses`; with the last tile of a level (`level_rows` > 0) the block that ends
// last adds them up.
extern "C" __global__ void pair_rows(float* s, u64 stride, u32 first, u32 rows, u32 m,
                                     const u32* parents, u32 num_parents, const u32* drawn,
                                     const u32* graphs, const u32* above, u32 num_graphs, u32 score,
                                     float scale, double per_positive, double per_negative,
                                     double* losses, u32 level_rows, u32* blocks_done,
                                     double* total) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row < rows) {
    const u32 node = first + row, above_node = parents[node];
    float* mine = s + row * stride;
    u32 own = above_node, own_end = above_node + 1;
    if (above) {
      // A graph without nodes starts where the next does: the last of them is meant.
      const u32 graph = run_of(graphs, num_graphs, node);
      own = above[graph], own_end = above[graph + 1];
    }
    // The columns: the positive pair's, those that do not count, and log c(u).
    u32 parent = above_node, columns = m;
    float correction = 0.f;
    if (drawn) {
      const u32 negatives = num_parents - (own_end - own);
      parent = m, columns = m + 1;
      own = place_of(drawn, m, own), own_end = place_of(drawn, m, own_end);
      const u32 counted = m - (own_end - own);
      if (counted > 0) correction = (float)log((double)negatives / counted);
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
      for (u32 v = lane; v < columns; v += 32)
        if ((v < own || v >= own_end) && v != parent)
          most = fmaxf(most, mine[v] * scale + correction);
      most = warp_max(most);
      double sum = 0.;
      for (u32 v = lane; v < columns; v += 32) {
        const bool ignored = v >= own && v < own_end && v != parent;
        const float logit = mine[v] * scale + (v == parent ? 0.f : correction);
        const float e = ignored ? 0.f : expf(logit - most);
        mine[v] = e;
        sum += e;
      }
      sum = warp_sum(sum);
      const float share = scale * (float)per_positive, each = share * (float)(1. / sum);
      for (u32 v = lane; v < columns; v += 32)
        mine[v] = mine[v] * each - (v == parent ? share : 0.f);
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

// The rows of `g` that were drawn.
extern "C" __global__ void drawn_rows(const float* g, u64 g_stride, const u32* drawn, u32 count,
                                      u32 columns, float* to) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= count || column >= columns) return;
  to[(u64)row * columns + column] = g[drawn[row] * g_stride + column];
}

// Column `m` of a tile: s(u, 𝒫(u)) = x(u)·g(𝒫(u)).
extern "C" __global__ void positive_column(float* s, u64 stride, u32 first, u32 rows, u32 m,
                                           const u32* parents, const float* x, u64 x_stride,
                                           const float* g, u64 g_stride, u32 columns) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const u64 parent = parents[first + row];
  double sum = 0.;
  for (u32 c = threadIdx.x; c < columns; c += 32)
    sum += (double)x[row * x_stride + c] * g[parent * g_stride + c];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) s[row * stride + m] = (float)sum;
}

// dx(u) ← dx(u) + ds(u)·g(𝒫(u)) with column `m`, ds, of a tile, which is kept.
extern "C" __global__ void positive_column_vjp(const float* s, u64 stride, u32 first, u32 rows,
                                               u32 m, const u32* parents, const float* g, u64 g_stride,
                                               u32 columns, float* dx, u64 dx_stride,
                                               float* kept) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const u64 parent = parents[first + row];
  const float ds = s[row * stride + m];
  for (u32 c = threadIdx.x; c < columns; c += 32)
    dx[row * dx_stride + c] += ds * g[parent * g_stride + c];
  if (threadIdx.x == 0) kept[first + row] = ds;
}

// dg(v) ← dg(v) + Σ_{u ∈ 𝒫⁻¹(v)} ds(u)·x(u), and the gradient of v's row where v was drawn.
extern "C" __global__ void drawn_rows_vjp(const u32* starts, const u32* order, u32 parents,
                                          u32 columns, const float* ds, const float* x,
                                          u64 x_stride, const u32* drawn, u32 count,
                                          const float* d_rows, float* dg, u64 dg_stride) {
  const u32 v = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (v >= parents || column >= columns) return;
  float sum = dg[v * dg_stride + column];
  const u32 end = starts[v + 1];
  for (u32 i = starts[v]; i < end; ++i) {
    const u32 u = order[i];
    sum += ds[u] * x[u * x_stride + column];
  }
  const u32 at = place_of(drawn, count, v);
  if (at < count && drawn[at] == v) sum += d_rows[(u64)at * columns + column];
  dg[v * dg_stride + column] = sum;
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
