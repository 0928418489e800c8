"""What reading graphs costs beside embedding them: networkx, PyTorch Geometric, arrays.

    python convert.py DATA [COUNT]

DATA is a collection that hg2v reads (NCI1.zip); its graphs are repeated up to COUNT.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import hg2v


def timed(what, *args):
    start = time.process_time()
    made = what(*args)
    return time.process_time() - start, made


def long_tables(pairs):
    """The edges of all graphs as a frame, and their nodes as another."""
    import pandas

    src, dst = np.concatenate([ends for ends, _ in pairs], axis=1)
    edges = {"graph": np.repeat(range(len(pairs)), [e.shape[1] for e, _ in pairs])}
    nodes = {"graph": np.repeat(range(len(pairs)), [len(x) for _, x in pairs])}
    nodes["node"] = np.concatenate([np.arange(len(x)) for _, x in pairs])
    xs = pandas.DataFrame(np.concatenate([x for _, x in pairs])).add_prefix("x")
    of_nodes = pandas.concat([pandas.DataFrame(nodes), xs], axis=1)
    return {"edges": pandas.DataFrame({**edges, "src": src, "dst": dst}), "nodes": of_nodes}


def main(data: str, count: int) -> None:
    import networkx as nx
    import pyarrow as pa

    table = pa.table(pa.record_batch(hg2v.graphs(data).to_arrow())).to_pylist()
    rows = [table[i % len(table)] for i in range(count)]
    kinds = sorted({label for row in table for label in row["node_label"]})
    one_hot = np.eye(len(kinds))
    graphs, pairs = [], []
    for row in rows:
        x = one_hot[np.searchsorted(kinds, row["node_label"])]
        graph = nx.Graph()
        graph.add_nodes_from((v, {"x": of}) for v, of in enumerate(x))
        graph.add_edges_from(zip(row["src"], row["dst"]))
        graphs.append(graph)
        pairs.append((np.array([row["src"], row["dst"]], np.int64), x))
    given = {"networkx": graphs, "(edge_index, x)": pairs}
    try:
        import torch
        from torch_geometric.data import Batch, Data

        data_list = [Data(edge_index=torch.from_numpy(e), x=torch.from_numpy(x)) for e, x in pairs]
        given["PyG, a list"] = data_list
        given["PyG, a Batch"] = Batch.from_data_list(data_list)
    except ImportError:
        pass
    given["tables, a row an edge"] = long_tables(pairs)
    ends = np.concatenate([e for e, _ in pairs], axis=1)
    node_ptr = np.concatenate([[0], np.cumsum([len(x) for _, x in pairs])])
    edge_ptr = np.concatenate([[0], np.cumsum([e.shape[1] for e, _ in pairs])])
    xs = np.concatenate([x for _, x in pairs])

    model = hg2v.HG2V(epochs=1).fit(pairs[: min(count, 1000)])
    times, read = {}, None
    for name, graphs in given.items():
        times[name], read = timed(hg2v.graphs, graphs)
    times["arrays, stacked"], _ = timed(
        lambda: hg2v.Graphs.stacked(node_ptr, edge_ptr, ends[0].copy(), ends[1].copy(), x=xs)
    )
    embedding, _ = timed(model.transform, read)
    print(
        f"{count} graphs, {len(xs) / count:.1f} nodes each; embedding them takes {embedding:.2f} s\n"
    )
    print("| graphs as | reading, s | µs a graph | share of transform | cheaper than networkx |")
    print("|---|---|---|---|---|")
    for name, seconds in times.items():
        share = seconds / (seconds + embedding)
        print(
            f"| {name} | {seconds:.2f} | {1e6 * seconds / count:.1f} | {100 * share:.1f} % "
            f"| {times['networkx'] / seconds:.1f} × |"
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
