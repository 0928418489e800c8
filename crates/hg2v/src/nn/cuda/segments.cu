// Sums and maxima of the rows that belong together, without atomics: see pool.rs
// and readout.rs.

#define SUM 0
#define MAX 1
#define MEAN 2
// −∞
#define LEAST __int_as_float(0xff800000)
// 2⁻²³, from 1 to the next float.
#define EPSILON 1.1920928955078125e-7

// P(v) = Σ_{u ∈ 𝒫⁻¹(v)} h(u), in the order of the nodes.
extern "C" __global__ void pool(const u32* starts, const u32* order, u32 parents, u32 columns,
                                const float* h, u64 h_stride, float* p, u64 p_stride) {
  const u32 v = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (v >= parents || column >= columns) return;
  float sum = 0.f;
  const u32 end = starts[v + 1];
  for (u32 i = starts[v]; i < end; ++i) sum += h[order[i] * h_stride + column];
  p[v * p_stride + column] = sum;
}

// dh(u) = dP(𝒫(u)).
extern "C" __global__ void pool_vjp(const u32* parent, u32 nodes, u32 columns, const float* dp,
                                    u64 dp_stride, float* dh, u64 dh_stride) {
  const u32 u = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (u >= nodes || column >= columns) return;
  dh[u * dh_stride + column] = dp[parent[u] * dp_stride + column];
}

// One graph's readout of 32 columns; 32 threads share a column, and what they find
// meets in an order that follows from the number of nodes alone. A sum that is smaller
// than what rounding makes of its terms is zero.
extern "C" __global__ void readout(const u32* graphs, u32 columns, u32 kind, const float* v,
                                   u64 v_stride, float* out, u64 out_stride) {
  __shared__ double part[32][33];
  __shared__ double sizes[32][33];
  const u32 first = graphs[blockIdx.x], end = graphs[blockIdx.x + 1];
  const u32 column = blockIdx.y * 32 + threadIdx.x;
  double value = kind == MAX ? LEAST : 0., size = 0.;
  if (column < columns) {
    for (u32 u = first + threadIdx.y; u < end; u += 32) {
      const double x = v[u * v_stride + column];
      value = kind == MAX ? (x > value || x != x ? x : value) : value + x;
      size += fabs(x);
    }
  }
  part[threadIdx.y][threadIdx.x] = value;
  sizes[threadIdx.y][threadIdx.x] = size;
  for (u32 half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) {
      const double other = part[threadIdx.y + half][threadIdx.x];
      value = kind == MAX ? (other > value || other != other ? other : value) : value + other;
      size += sizes[threadIdx.y + half][threadIdx.x];
      part[threadIdx.y][threadIdx.x] = value;
      sizes[threadIdx.y][threadIdx.x] = size;
    }
  }
  if (threadIdx.y > 0 || column >= columns) return;
  if (kind != MAX && fabs(value) <= EPSILON * size) value = 0.;
  if (kind == MEAN) value *= 1. / (end > first ? end - first : 1);
  if (first == end) value = 0.;
  out[blockIdx.x * out_stride + column] = float(value);
}

// Adds to dv: every node of a sum gets all of dout, of a mean its share, and of a
// maximum the first node that attains it.
extern "C" __global__ void readout_vjp(const u32* graphs, u32 columns, u32 kind, const float* v,
                                       u64 v_stride, const float* dout, u64 dout_stride, float* dv,
                                       u64 dv_stride) {
  __shared__ float most[32][33];
  __shared__ u32 at[32][33];
  const u32 first = graphs[blockIdx.x], end = graphs[blockIdx.x + 1];
  const u32 column = blockIdx.y * 32 + threadIdx.x;
  const float d = column < columns ? dout[blockIdx.x * dout_stride + column] : 0.f;
  if (kind != MAX) {
    const float share = kind == MEAN ? d * (1.f / (end > first ? end - first : 1)) : d;
    if (column < columns)
      for (u32 u = first + threadIdx.y; u < end; u += 32) dv[u * dv_stride + column] += share;
    return;
  }
  float value = LEAST;
  u32 node = end;
  if (column < columns) {
    for (u32 u = first + threadIdx.y; u < end; u += 32) {
      const float x = v[u * v_stride + column];
      if (node == end || x > value) value = x, node = u;
    }
  }
  most[threadIdx.y][threadIdx.x] = value;
  at[threadIdx.y][threadIdx.x] = node;
  for (u32 half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) {
      const float other = most[threadIdx.y + half][threadIdx.x];
      const u32 where = at[threadIdx.y + half][threadIdx.x];
      if (where != end && (node == end || other > value || (other == value && where < node)))
        value = other, node = where;
      most[threadIdx.y][threadIdx.x] = value;
      at[threadIdx.y][threadIdx.x] = node;
    }
  }
  if (threadIdx.y == 0 && column < columns && node < end) dv[node * dv_stride + column] += d;
}
