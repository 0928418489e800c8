"""What a graph costs as it grows: seconds of one core, memory, and bytes.

    python scale.py [NODES ...]

Seconds are the process's own (a busy machine changes them little), of one thread. Graphs are
Barabási–Albert's with two edges a node, about as dense as call graphs are.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time

import numpy as np

import hg2v


def grown(n: int, seed: int) -> dict[str, object]:
    """Each node picks two ends among those that edges have already, so by degree."""
    rng = np.random.default_rng([n, seed])
    ends = np.zeros(4 * n, np.int64)
    ends[:4] = [0, 1, 1, 2]
    filled = 4
    for node in range(3, n):
        for _ in range(2):
            ends[filled], ends[filled + 1] = node, ends[rng.integers(0, filled - filled % 2)]
            filled += 2
    edges = ends[:filled].reshape(-1, 2).T
    return {"edge_index": edges, "num_nodes": n, "id": f"{n}-{seed}"}


def seconds(what, *args) -> tuple[float, object]:
    start = time.process_time()
    made = what(*args)
    return time.process_time() - start, made


def main(sizes: list[int]) -> None:
    model = hg2v.HG2V(epochs=1, n_jobs=1).fit([grown(1000, seed) for seed in range(16)])
    print(
        "| nodes | graphs | s a graph, one core | µs a node | graphs an hour and core | peak, MB | Parquet, B a graph | vector, B |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n in sizes:
        count = max(2, min(64, 100_000 // n))
        graphs = hg2v.graphs([grown(n, seed) for seed in range(count)])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.parquet")
            graphs.write(path)
            size = os.path.getsize(path) / count
        spent, rows = seconds(model.transform, graphs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {n} | {count} | {spent / count:.3f} | {1e6 * spent / count / n:.1f} "
            f"| {3600 * count / spent:.0f} | {peak:.0f} | {size:.0f} | {rows.shape[1] * 4} |",
            flush=True,
        )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100, 1000, 4000, 17_000, 68_000])
