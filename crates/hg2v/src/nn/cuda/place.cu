// A batch put together on the device from graphs that lie there: see placed.rs.

// Where the arrays of a level lie, in 4-byte words from the beginning.
struct Arrays {
  u32 graphs, offsets, targets, values, parents, starts, order;
};

// One level of the batch. The tables have an entry a chosen graph and one for the end:
// where its nodes and edges begin in the store, and where in the batch.
struct Gather {
  Arrays from, to;
  u32 nodes, edges, parents;
  u32 from_nodes, to_nodes, from_edges, to_edges, from_parents, to_parents;
};

// Level blockIdx.y; `num_graphs` graphs. The topmost level has no arrays but `graphs`.
extern "C" __global__ void gather(const u32* store, u32* batch, u32 gathers, u32 num_graphs,
                                  u32 levels) {
  const Gather g = ((const Gather*)(batch + gathers))[blockIdx.y];
  const u32* from_nodes = batch + g.from_nodes;
  const u32* to_nodes = batch + g.to_nodes;
  const u32 begin = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (u32 i = begin; i <= num_graphs; i += step) batch[g.to.graphs + i] = to_nodes[i];
  if (blockIdx.y == levels) return;
  const u32* from_edges = batch + g.from_edges;
  const u32* to_edges = batch + g.to_edges;
  const u32* from_parents = batch + g.from_parents;
  const u32* to_parents = batch + g.to_parents;
  for (u32 u = begin; u < g.nodes; u += step) {
    const u32 i = run_of(to_nodes, num_graphs, u), source = u - to_nodes[i] + from_nodes[i];
    batch[g.to.offsets + u] = store[g.from.offsets + source] - from_edges[i] + to_edges[i];
    batch[g.to.parents + u] = store[g.from.parents + source] - from_parents[i] + to_parents[i];
    batch[g.to.order + u] = store[g.from.order + source] - from_nodes[i] + to_nodes[i];
  }
  for (u32 e = begin; e < g.edges; e += step) {
    const u32 i = run_of(to_edges, num_graphs, e), source = e - to_edges[i] + from_edges[i];
    batch[g.to.targets + e] = store[g.from.targets + source] - from_nodes[i] + to_nodes[i];
    batch[g.to.values + e] = store[g.from.values + source];
  }
  for (u32 v = begin; v < g.parents; v += step) {
    const u32 i = run_of(to_parents, num_graphs, v), source = v - to_parents[i] + from_parents[i];
    batch[g.to.starts + v] = store[g.from.starts + source] - from_nodes[i] + to_nodes[i];
  }
  if (begin == 0) {
    batch[g.to.offsets + g.nodes] = g.edges;
    batch[g.to.starts + g.parents] = g.nodes;
  }
}

// The features of the batch's nodes.
extern "C" __global__ void gather_rows(const float* store, const u32* from_nodes,
                                       const u32* to_nodes, u32 num_graphs, u32 nodes, u32 columns,
                                       float* to, u64 to_stride) {
  const u32 u = blockIdx.x * blockDim.y + threadIdx.y;
  if (u >= nodes) return;
  const u32 i = run_of(to_nodes, num_graphs, u);
  const u64 source = u - to_nodes[i] + from_nodes[i];
  for (u32 c = threadIdx.x; c < columns; c += blockDim.x)
    to[u * to_stride + c] = store[source * columns + c];
}
