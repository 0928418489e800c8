"""HG2V beside what people would otherwise run: time, accuracy and lines of code.

    python beside.py FOLDER [SET ...]

Graph2Vec is gensim's Doc2Vec over Weisfeiler–Lehman labels with karateclub's settings, InfoGraph is
PyTorch Geometric's layers and a loop. Each makes vectors of all graphs without labels, on one
thread; an RBF C-SVM judges them, its C and γ chosen by 3-fold cross-validation inside the training
part, on five 80/20 splits. Seconds are the process's own, from graphs of networkx to vectors. Lines
of code are those between the marks below, without blanks and comments.
"""

from __future__ import annotations

import inspect
import pathlib
import sys
import time

import numpy as np

import hg2v as package

SEED = 0


def hg2v(graphs):
    # mark
    import hg2v

    return hg2v.HG2V(random_state=SEED, n_jobs=1).fit_transform(graphs)
    # mark


def graph2vec_gensim(graphs):
    # mark
    import hashlib

    import networkx as nx
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    def words(graph, rounds=2):
        names = {v: str(of) for v, of in nx.get_node_attributes(graph, "label").items()}
        all_names = list(names.values())
        for _ in range(rounds):
            around = {
                v: names[v] + "(" + ",".join(sorted(names[u] for u in graph[v])) + ")"
                for v in graph
            }
            names = {v: hashlib.md5(text.encode()).hexdigest() for v, text in around.items()}
            all_names += names.values()
        return all_names

    documents = [TaggedDocument(words(graph), [i]) for i, graph in enumerate(graphs)]
    model = Doc2Vec(
        documents,
        vector_size=128,
        window=0,
        min_count=5,
        dm=0,
        sample=1e-4,
        epochs=10,
        alpha=0.025,
        workers=1,
        seed=SEED,
    )
    return np.array([model.dv[i] for i in range(len(documents))])
    # mark


def infograph_pyg(graphs):
    # mark
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GINConv, global_add_pool

    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    kinds = sorted({of for graph in graphs for _, of in graph.nodes(data="label")})
    data = []
    for graph in graphs:
        labels = [kinds.index(of) for _, of in graph.nodes(data="label")]
        ends = torch.tensor(list(graph.edges), dtype=torch.long).reshape(-1, 2).T
        x = F.one_hot(torch.tensor(labels), len(kinds)).float()
        data.append(Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], 1)))
    dim, layers = 32, 3

    def mlp(rows, columns):
        return nn.Sequential(nn.Linear(rows, columns), nn.ReLU(), nn.Linear(columns, columns))

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            widths = [len(kinds)] + [dim] * (layers - 1)
            self.convolutions = nn.ModuleList(GINConv(mlp(w, dim)) for w in widths)
            self.norms = nn.ModuleList(nn.BatchNorm1d(dim) for _ in widths)

        def forward(self, batch):
            x, all_x = batch.x, []
            for convolution, norm in zip(self.convolutions, self.norms):
                x = norm(F.relu(convolution(x, batch.edge_index)))
                all_x.append(x)
            nodes = torch.cat(all_x, 1)
            return nodes, global_add_pool(nodes, batch.batch)

    encoder = Encoder()
    local, whole = mlp(dim * layers, dim), mlp(dim * layers, dim)
    parameters = [*encoder.parameters(), *local.parameters(), *whole.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=0.001)
    for _ in range(20):
        for batch in DataLoader(data, 128, shuffle=True):
            nodes, rows = encoder(batch)
            scores = local(nodes) @ whole(rows).T
            own = F.one_hot(batch.batch, len(rows)).bool()
            # The Jensen–Shannon estimator of mutual information.
            loss = F.softplus(-scores[own]).mean() + F.softplus(scores[~own]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    encoder.eval()
    with torch.no_grad():
        return np.concatenate([encoder(batch)[1].numpy() for batch in DataLoader(data, 128)])
    # mark


METHODS = {"hg2v": hg2v, "Graph2Vec, gensim": graph2vec_gensim, "InfoGraph, PyG": infograph_pyg}


def lines_of(method) -> int:
    inside = inspect.getsource(method).split("# mark")[1]
    return sum(
        1 for line in inside.splitlines() if line.strip() and not line.strip().startswith("#")
    )


def networkx_graphs(data):
    import networkx as nx
    import pyarrow as pa

    read = package.graphs(data)
    made = []
    for row in pa.record_batch(read.to_arrow()).to_pylist():
        graph = nx.Graph()
        graph.add_nodes_from((v, {"label": of}) for v, of in enumerate(row["node_label"]))
        graph.add_edges_from(zip(row["src"], row["dst"]))
        made.append(graph)
    return made, np.array(read.labels())


def accuracies(rows, y):
    from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    grid = {"svc__C": [1, 10, 100], "svc__gamma": ["scale", 1e-3]}
    found = []
    for train, test in StratifiedShuffleSplit(5, test_size=0.2, random_state=SEED).split(rows, y):
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3)
        found.append(search.fit(rows[train], y[train]).score(rows[test], y[test]))
    return 100 * np.mean(found), 100 * np.std(found)


def main(folder: str, names: list[str]) -> None:
    print("| set | method | accuracy, % | seconds of one core | lines |")
    print("|---|---|---|---|---|")
    for name in names:
        graphs, y = networkx_graphs(pathlib.Path(folder) / f"{name}.zip")
        for called, method in METHODS.items():
            start = time.process_time()
            rows = np.asarray(method(graphs), np.float64)
            seconds = time.process_time() - start
            mean, deviation = accuracies(rows, y)
            print(
                f"| {name} | {called} | {mean:.1f} ± {deviation:.1f} | {seconds:.2f} | {lines_of(method)} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or ["MUTAG", "PTC_FR", "NCI1"])
