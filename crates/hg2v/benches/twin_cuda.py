"""Steps of the same network in PyTorch on an NVIDIA GPU: what `--device cuda` is measured against.

Used by gpu.py. Sixteen batches lie on the GPU ready made and take turns, so that what
PyTorch is timed for is the network alone; ours are timed with putting the batch together.
"""

import math
import statistics
import time

import torch
from torch_geometric.utils import scatter, spmm

from twin import Twin, batch_of, synthetic

SIZES = ((240, 128), (1200, 256), (4000, 256))


class Geometric(Twin):
    """The twin with PyTorch Geometric's sparse product and pooling."""

    spmm = staticmethod(spmm)
    pool = staticmethod(lambda h, parent, count: scatter(h, parent, 0, dim_size=count, reduce="sum"))


class Gathered(Twin):
    """The twin with sparse products that can be captured: gathered, scaled and added up."""

    @staticmethod
    def spmm(adjacency, g):
        to, source, values = adjacency
        return torch.zeros_like(g).index_add_(0, to, g[source] * values[:, None])


def on_card(batched, features):
    move = lambda adjacency, parent, count: (adjacency.cuda(), parent.cuda(), count)
    return [move(*level) for level in batched], features.cuda()


def as_lists(batched, features):
    def lists(adjacency):
        coo = adjacency.to_sparse_coo().coalesce()
        return (*coo.indices(), coo.values())

    return [(lists(adjacency), parent, count) for adjacency, parent, count in batched], features


def median_ms(step, repeats=300, warm=50):
    times = []
    for i in range(repeats + warm):
        torch.cuda.synchronize()
        started = time.perf_counter()
        step(i)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return 1e3 * statistics.median(times[warm:])


def eager(kind, dim, batches):
    model = kind(dim, dim, 4, 3).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def step(i):
        batched, features = batches[i % len(batches)]
        optimizer.zero_grad(set_to_none=True)
        losses = model(batched, features)
        sum(losses).backward()
        optimizer.step()
        torch.stack(losses).tolist()

    return median_ms(step)


def replayed(dim, batch):
    """One batch, captured once: shapes and data may not change."""
    batch = as_lists(*batch)
    model = Gathered(dim, dim, 4, 3).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True, capturable=True)

    def work():
        optimizer.zero_grad(set_to_none=True)
        losses = model(*batch)
        sum(losses).backward()
        optimizer.step()
        return torch.stack(losses)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        losses = work()

    def step(_):
        graph.replay()
        losses.tolist()

    return median_ms(step)


def steps():
    """Milliseconds a step: by size and way."""
    found = []
    for nodes, dim in SIZES:
        batches = [on_card(*batch_of(synthetic(nodes, dim, first=8 * which))) for which in range(16)]
        row = {"nodes": nodes, "dim": dim}
        for tf32 in (False, True):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            ways = {
                "eager": lambda: eager(Twin, dim, batches),
                "geometric": lambda: eager(Geometric, dim, batches),
                "replayed": lambda: replayed(dim, batches[0]),
            }
            for name, way in ways.items():
                try:
                    row[name + ("-tf32" if tf32 else "")] = way()
                except RuntimeError as error:
                    print(f"{name}: {error}")
                    row[name + ("-tf32" if tf32 else "")] = math.nan
        found.append(row)
    return found


if __name__ == "__main__":
    print(torch.__version__, torch.cuda.get_device_name())
    for row in steps():
        print(row)
