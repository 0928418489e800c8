"""Kernels beside GraKeL's and Graph2Vec beside gensim's, on what benches/kernels.rs left.

    python kernels.py parity HG2V FOLDER SET…   fails where Gram matrices differ or vectors are worse
    python kernels.py times HG2V FOLDER SET…    the same, for the times

HG2V is the command, FOLDER where the bench wrote, SET a name or NAME:COUNT as it was given there.
GraKeL reads the same graphs, gensim the same documents (PV-DBOW, same epochs and dimension).
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from gensim.models.doc2vec import Doc2Vec, TaggedDocument
from grakel import Graph
from grakel.kernels import VertexHistogram, WeisfeilerLehman, WeisfeilerLehmanOptimalAssignment

# GraKeL's optimal assignment takes minutes on more: a test compares the first of them.
FEW = 200
# Normalised values are sums of whole numbers over a root: what rounding leaves.
SAME = 1e-9


def graphs(command, name, count, folder):
    """The set as GraKeL wants it."""
    lines = Path(folder) / f"{name}.jsonl"
    subprocess.run([command, "convert", name, lines, "--quiet"], check=True)
    for line in lines.read_text().splitlines()[:count]:
        graph = json.loads(line)
        labels = dict(enumerate(graph["node_labels"]))
        edges = {node: {} for node in labels}
        for u, v, *_ in graph["edges"]:
            if u != v:
                edges[u][v] = edges[v][u] = 1.0
        kinds = graph.get("edge_labels")
        yield Graph(edges, labels), kinds and divided(labels, graph["edges"], kinds)


def divided(labels, edges, kinds):
    """The graph with a node of its own, labelled by the kind, in the middle of every edge."""
    nodes = {node: f"node {label}" for node, label in labels.items()}
    links = {node: {} for node in labels}
    for (u, v, *_), kind in zip(edges, kinds, strict=True):
        middle = (min(u, v), max(u, v))
        nodes[middle] = f"edge {kind}"
        for end in middle:
            links.setdefault(middle, {})[end] = links[end][middle] = 1.0
    return Graph(links, nodes)


class OriginalNodes(VertexHistogram):
    """Counts of the labels of nodes, without those in the middle of edges."""

    def parse_input(self, X):
        return super().parse_input(
            [(None, {at: label for at, label in x[1].items() if isinstance(at, int)}) for x in X])


def with_kinds(graphs, rounds):
    """The WL-subtree kernel that sees kinds of edges, from GraKeL's, which does not.

    Two rounds on divided graphs tell the original nodes apart as one round with kinds does, so that
    the kernel is the sum of what GraKeL's gains at rounds 0, 2, 4, …
    """
    upto = [
        WeisfeilerLehman(n_iter=n, base_graph_kernel=OriginalNodes).fit_transform(graphs)
        for n in range(1, 2 * rounds + 1)
    ]
    # n_iter counts beyond the labels themselves, and is at least 1.
    first = OriginalNodes().fit_transform([(None, graph.get_labels(purpose="dictionary")) for graph in graphs])
    gram = first + sum(upto[n + 1] - upto[n] for n in range(0, 2 * rounds, 2))
    roots = np.sqrt(np.diag(gram))
    return gram / np.outer(roots, roots)


def accuracy(command, name, vectors):
    """What the command makes of vectors of all graphs, as a share."""
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, vectors.astype(np.float32))
        file.flush()
        said = subprocess.run(
            [command, "evaluate", name, "--embeddings", file.name, "--protocol", "transductive",
             "--no-controls", "--json", "--quiet"],
            check=True, capture_output=True, text=True,
        )
    return json.loads(said.stdout)["methods"][0]["result"]["test"]["mean"]


def doc2vec(documents, note, negative):
    """gensim's vectors of the documents, and seconds."""
    tagged = [TaggedDocument(line.split(), [at]) for at, line in enumerate(documents)]
    started = time.perf_counter()
    model = Doc2Vec(
        tagged, vector_size=note["dim"], epochs=note["epochs"], min_count=note["least"],
        sample=note["sample"], negative=negative, dm=0, hs=0, workers=2, seed=0,
    )
    return model.dv.vectors, time.perf_counter() - started


def run(judge, command, folder, *sets):
    ours_all, theirs_all = [], []
    for set_ in sets:
        name, _, count = set_.partition(":")
        at = lambda what: Path(folder) / f"{set_.replace(':', '-')}.{what}"
        note = json.loads(at("json").read_text())
        n = note["graphs"]
        with tempfile.TemporaryDirectory() as scratch:
            theirs, parted = zip(*graphs(command, name, n, scratch), strict=True)
        kernels = {
            "wl-subtree": WeisfeilerLehman(
                n_iter=note["rounds"], base_graph_kernel=VertexHistogram, normalize=True),
            "wl-oa": WeisfeilerLehmanOptimalAssignment(n_iter=note["rounds"], normalize=True),
        }
        for kernel, grakel in kernels.items():
            of = min(n, FEW) if judge and kernel == "wl-oa" else n
            started = time.perf_counter()
            gram = grakel.fit_transform(theirs[:of])
            seconds = time.perf_counter() - started
            own = np.fromfile(at(kernel), "<f8").reshape(n, n)[:of, :of]
            worst = np.abs(own - gram).max()
            print(
                f"{set_}: {kernel}, {n} graphs in {note['seconds'][kernel]:.3f} s, {of} by GraKeL in "
                f"{seconds:.2f} s, ratio {seconds / note['seconds'][kernel]:.0f}; "
                f"largest difference {worst:.1e}",
                flush=True,
            )
            assert worst < SAME, f"{set_}: {kernel} is not GraKeL's"
        if judge and parted[0]:
            own = np.fromfile(at("wl-subtree-kinds"), "<f8").reshape(n, n)
            plain = np.fromfile(at("wl-subtree"), "<f8").reshape(n, n)
            worst = np.abs(own - with_kinds(parted, note["rounds"])).max()
            print(
                f"{set_}: wl-subtree with kinds of edges, largest difference {worst:.1e}; from that "
                f"without kinds {np.abs(own - plain).max():.1e}",
                flush=True,
            )
            assert worst < SAME, f"{set_}: wl-subtree does not see kinds of edges as GraKeL does nodes"
        documents = at("documents").read_text().splitlines()
        own = np.fromfile(at("graph2vec"), "<f8").reshape(n, note["dim"])
        judged = judge and not count
        score = accuracy(command, name, own) if judged else None
        best = 0.0
        for negative in [1, 5]:
            vectors, seconds = doc2vec(documents, note, negative)
            line = (
                f"{set_}: graph2vec and gensim with {negative} negatives: "
                f"{note['seconds']['graph2vec']:.2f} s and {seconds:.2f} s, "
                f"ratio {seconds / note['seconds']['graph2vec']:.1f}"
            )
            if judged:
                peer = accuracy(command, name, vectors)
                best = max(best, peer)
                line += f"; accuracy {100 * score:.1f} and {100 * peer:.1f}"
            print(line, flush=True)
        if judged:
            ours_all.append(score)
            theirs_all.append(best)
    if ours_all:
        ours, theirs = 100 * np.mean(ours_all), 100 * np.mean(theirs_all)
        print(f"graph2vec {ours:.1f}, gensim's better {theirs:.1f} over {len(ours_all)} sets")
        assert ours > theirs - 1.0, "gensim's vectors are better"


mode, *rest = sys.argv[1:]
run({"parity": True, "times": False}[mode], *rest)
