// What is done to each number, such as what follows a product (see dense.rs), and its derivative.
// Threads are (column, row).

#define LINEAR 0
#define RELU 1
#define TANH 2

// y ← act(y + b); a null b adds nothing.
extern "C" __global__ void activate(float* y, u64 stride, u32 rows, u32 columns, const float* bias,
                                    u32 activation) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  float v = y[row * stride + column];
  if (bias) v += bias[column];
  // A NaN is not hidden: it fails the comparison.
  if (activation == RELU) v = v < 0.f ? 0.f : v;
  if (activation == TANH) v = tanhf(v);
  y[row * stride + column] = v;
}

// dy ← dy ⊙ act′, with act′ = 1 − y² for tanh and y > 0 for relu.
extern "C" __global__ void activate_vjp(float* dy, u64 dy_stride, const float* y, u64 y_stride,
                                        u32 rows, u32 columns, u32 activation) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const float v = y[row * y_stride + column];
  float* d = dy + row * dy_stride + column;
  if (activation == RELU) *d = v <= 0.f ? 0.f : *d;
  if (activation == TANH) *d *= 1.f - v * v;
}

// y = sign(e)·ln(1 + |e|): see signed_log.rs.
extern "C" __global__ void signed_log(const float* e, u64 e_stride, float* y, u64 y_stride, u32 rows,
                                      u32 columns) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const float v = e[row * e_stride + column];
  y[row * y_stride + column] = copysignf(log1pf(fabsf(v)), v);
}

// d ← d / (1 + |e|).
extern "C" __global__ void signed_log_vjp(const float* e, u64 e_stride, float* d, u64 d_stride,
                                          u32 rows, u32 columns) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  d[row * d_stride + column] /= 1.f + fabsf(e[row * e_stride + column]);
}

// The sum of every column. A thread adds every blockDim.y-th row, and their sums
// meet in pairs: an order that follows from the number of rows alone.
extern "C" __global__ void column_sums(const float* x, u64 stride, u32 rows, u32 columns,
                                       float* sums) {
  __shared__ float part[128][8];
  const u32 column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0.f;
  if (column < columns)
    for (u32 row = threadIdx.y; row < rows; row += 128) sum += x[row * stride + column];
  part[threadIdx.y][threadIdx.x] = sum;
  for (u32 half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
  }
  if (threadIdx.y == 0 && column < columns) sums[column] = part[0][threadIdx.x];
}

// Zeros a window, or copies one.
extern "C" __global__ void copy(const float* from, u64 from_stride, float* to, u64 to_stride,
                                u32 rows, u32 columns) {
  const u32 row = blockIdx.x * blockDim.y + threadIdx.y;
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= rows || column >= columns) return;
  to[row * to_stride + column] = from ? from[row * from_stride + column] : 0.f;
}
