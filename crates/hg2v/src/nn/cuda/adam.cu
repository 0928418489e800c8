// One step of Adam on all parameters at once: see adam.rs.
extern "C" __global__ void adam(u64 n, float rate, float epsilon, float keep_1, float take_1,
                                float keep_2, float take_2, float* theta, const float* g, float* m,
                                float* v) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float gradient = g[i];
  const float first = keep_1 * m[i] + take_1 * gradient;
  const float second = keep_2 * v[i] + take_2 * gradient * gradient;
  m[i] = first;
  v[i] = second;
  theta[i] -= rate * first / (sqrtf(second) + epsilon);
}
