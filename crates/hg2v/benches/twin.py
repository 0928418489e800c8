"""The same network and training in PyTorch: what hg2v's speed is measured against.

    python twin.py HG2V DATA_DIR [SET ...]

For each set, `HG2V fit` and the twin train the same model (d = 128, a = 4, L = 3,
10 epochs, batches of 8) on the same pyramids, one after the other, best of three.
The twin's losses are printed beside ours: it must be the same arithmetic. Then
single steps on the shapes of the bench `step`, which is run in between.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F

THREADS = 2
torch.set_num_threads(THREADS)


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def normalized(n, edges):
    """D^(-1/2) (A + I) D^(-1/2) as index and value lists."""
    degree = [1.0] * n
    for u, v, w in edges:
        degree[u] += w
        degree[v] += w
    rows, columns, values = list(range(n)), list(range(n)), [1.0 / d for d in degree]
    for u, v, w in edges:
        entry = w / math.sqrt(degree[u] * degree[v])
        rows += [u, v]
        columns += [v, u]
        values += [entry, entry]
    return rows, columns, values


class Graph:
    def __init__(self, record, pyramid, features, levels):
        self.features = torch.tensor(features, dtype=torch.float32)
        self.levels = []
        n = pyramid["n"]
        edges = {}
        for edge in record["edges"]:
            u, v = edge[:2]
            if u != v:
                edges[min(u, v), max(u, v)] = max(edges.get((min(u, v), max(u, v)), 0.0), (edge + [1.0])[2])
        edges = [(u, v, w) for (u, v), w in edges.items()]
        for level in range(levels):
            if level < len(pyramid["levels"]):
                above = pyramid["levels"][level]
                parent, count, next_edges = above["assignment"], above["n"], above["edges"]
            else:
                parent, count, next_edges = list(range(n)), n, edges
            rows, columns, values = normalized(n, edges)
            self.levels.append(
                (n, torch.tensor([rows, columns]), torch.tensor(values), torch.tensor(parent, dtype=torch.long), count)
            )
            n, edges = count, next_edges


def batch_of(graphs):
    """Block-diagonal sparse matrices and shifted parents, level by level."""
    batched = []
    for level in range(len(graphs[0].levels)):
        nodes, above, index, values, parents = 0, 0, [], [], []
        for graph in graphs:
            n, where, entries, parent, count = graph.levels[level]
            index.append(where + nodes)
            values.append(entries)
            parents.append(parent + above)
            nodes += n
            above += count
        adjacency = torch.sparse_coo_tensor(torch.cat(index, 1), torch.cat(values), (nodes, nodes)).to_sparse_csr()
        batched.append((adjacency, torch.cat(parents), above))
    return batched, torch.cat([graph.features for graph in graphs])


class Twin(torch.nn.Module):
    def __init__(self, features, dim, hops, levels):
        super().__init__()
        self.hops = hops
        matrix = lambda rows, columns: torch.nn.init.xavier_uniform_(torch.nn.Parameter(torch.empty(rows, columns)))
        self.layers = torch.nn.ModuleList()
        width = features
        for _ in range(levels):
            layer = torch.nn.ParameterDict(
                {
                    "theta1": matrix((hops + 1) * width, dim),
                    "theta4": matrix((hops + 1) * width, dim),
                    "theta2": matrix(dim, dim),
                    "theta3": torch.nn.Parameter(torch.zeros(dim)),
                }
            )
            self.layers.append(layer)
            width = dim

    spmm = staticmethod(lambda adjacency, g: adjacency @ g)
    pool = staticmethod(lambda h, parent, count: h.new_zeros(count, h.shape[1]).index_add_(0, parent, h))

    def forward(self, batched, g):
        losses = []
        for layer, (adjacency, parent, count) in zip(self.layers, batched):
            powers = [g]
            for _ in range(self.hops):
                powers.append(self.spmm(adjacency, powers[-1]))
            k = torch.cat(powers, 1)
            h, x = torch.tanh(k @ layer["theta1"]), torch.tanh(k @ layer["theta4"])
            g = self.pool(h, parent, count) @ layer["theta2"] + layer["theta3"]
            logits = x @ g.T
            found = logits.gather(1, parent[:, None])
            negatives = logits.numel() - len(parent)
            total = F.softplus(logits).sum() - F.softplus(found).sum()
            losses.append(F.softplus(-found).mean() + total / max(negatives, 1))
        return losses


def fit(graphs, dim=128, hops=4, levels=3, epochs=10, batch=8, rate=1e-3):
    torch.manual_seed(0)
    model = Twin(graphs[0].features.shape[1], dim, hops, levels)
    steps = epochs * math.ceil(len(graphs) / batch)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 1000 ** (-1 / max(steps - 1, 1)))
    for _ in range(epochs):
        order = torch.randperm(len(graphs)).tolist()
        sums, count = [0.0] * levels, 0
        for start in range(0, len(graphs), batch):
            batched, features = batch_of([graphs[i] for i in order[start : start + batch]])
            losses = model(batched, features)
            optimizer.zero_grad(set_to_none=True)
            sum(losses).backward()
            optimizer.step()
            schedule.step()
            sums = [s + loss.item() for s, loss in zip(sums, losses)]
            count += 1
    return [s / count for s in sums]


def best_of(repeats, job):
    best, result = math.inf, None
    for _ in range(repeats):
        started = time.perf_counter()
        result = job()
        best = min(best, time.perf_counter() - started)
    return best, result


def compare_fit(hg2v, data, name):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        zipped = data / f"{name}.zip"
        run(hg2v, "convert", zipped, folder / "graphs.jsonl", "-q")
        run(hg2v, "coarsen", zipped, "--out", folder / "pyramids.jsonl", "-q")
        records = [json.loads(line) for line in open(folder / "graphs.jsonl")]
        pyramids = [json.loads(line) for line in open(folder / "pyramids.jsonl")]
        labels = sorted({label for record in records for label in record.get("node_labels", [])})
        attributes = [row for record in records for row in record.get("x", [])]
        attributes = torch.tensor(attributes, dtype=torch.float64)
        mean, std = (attributes.mean(0), attributes.std(0, unbiased=False)) if len(attributes) else (0, 1)
        graphs = []
        for record, pyramid in zip(records, pyramids):
            columns = []
            if "x" in record:
                columns.append((torch.tensor(record["x"], dtype=torch.float64) - mean) / std)
            if labels:
                where = torch.tensor([labels.index(label) for label in record["node_labels"]])
                columns.append(F.one_hot(where, len(labels)).double())
            graphs.append(Graph(record, pyramid, torch.cat(columns, 1).tolist(), 3))

        ours, theirs = math.inf, math.inf
        for repeat in range(3):
            out = folder / f"model{repeat}"
            options = ["--preset", "paper", "--dim", 128, "--hops", 4, "--levels", 3, "--lr", 1e-3]
            report = json.loads(run(hg2v, "fit", zipped, "--out", out, "--json", "-q", "--threads", THREADS, *options))
            ours = min(ours, report["timings"]["training"])
            seconds, losses = best_of(1, lambda: fit(graphs))
            theirs = min(theirs, seconds)
        show = lambda losses: " ".join(f"{loss:.3f}" for loss in losses)
        print(f"{name}: fit {ours:.2f} s, PyTorch {theirs:.2f} s, {theirs / ours:.1f} times as fast")
        print(f"  last losses {show(report['losses'])}; PyTorch {show(losses)}")


def synthetic(nodes, dim, graphs=8, levels=3, first=0):
    """The graphs of the bench `step`; others for another `first`."""
    made = []
    for graph in range(first, first + graphs):
        n = nodes // graphs
        edges = set()
        for i in range(1, n):
            near = lambda step: i - 1 - (i * 7 + graph * 3 + step) % min(i, 4)
            edges.add((near(0), i))
            if i % 10 == 0:
                edges.add((near(1), i))
        pyramid, below, above = [], n, edges
        for _ in range(levels):
            assignment = [node // 2 for node in range(below)]
            below = (below + 1) // 2
            above = {(u // 2, v // 2) for u, v in above if u // 2 != v // 2}
            pyramid.append({"n": below, "assignment": assignment, "edges": [(u, v, 1.0) for u, v in sorted(above)]})
        record = {"edges": [[u, v] for u, v in sorted(edges)]}
        features = (torch.rand(n, dim) * 2 - 1).tolist()
        made.append(Graph(record, {"n": n, "levels": pyramid}, features, levels))
    return made


def compare_steps(sizes=((240, 128), (1200, 256), (4000, 256))):
    def ours(nodes, dim):
        command = ["cargo", "bench", "--quiet", "--workspace", "--bench", "step", "--", nodes, dim]
        return float(run(*command).split()[-7])

    for nodes, dim in sizes:
        batched, features = batch_of(synthetic(nodes, dim))
        model = Twin(dim, dim, 4, 3)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

        def step():
            optimizer.zero_grad(set_to_none=True)
            sum(model(batched, features)).backward()
            optimizer.step()

        step()
        best_ours, best_theirs = math.inf, math.inf
        for _ in range(3):
            best_ours = min(best_ours, ours(nodes, dim))
            best_theirs = min(best_theirs, 1e3 * best_of(5 if nodes > 2000 else 30, step)[0])
        ratio = best_theirs / best_ours
        print(f"step of {nodes} nodes, d = {dim}: {best_ours:.2f} ms, PyTorch {best_theirs:.2f} ms, {ratio:.1f} times as fast")


def main():
    hg2v, data, *names = sys.argv[1:]
    print(f"PyTorch {torch.__version__}, {THREADS} threads")
    for name in names or ["MUTAG", "ENZYMES", "NCI1"]:
        compare_fit(hg2v, pathlib.Path(data), name)
    compare_steps()


if __name__ == "__main__":
    main()
