"""Distances beside POT's: the same graphs, the same definitions, another solver.

    python transport.py parity HG2V DISTANCES    fails where they disagree by more than 1e-6
    python transport.py times HG2V DISTANCES     all pairs of MUTAG and ENZYMES, timed

HG2V is the command, DISTANCES the example of hg2v-baselines; sets are under $HG2V_DATA. POT is
called as the authors' own package `wwl` calls it: ot.dist and ot.emd2, pair after pair.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import ot

SAME = 1e-6


def graphs_of(command, name, folder, count=None):
    """The graphs of a set as JSONL, at most `count`: the file, and what is in it."""
    path = Path(folder) / f"{name}.jsonl"
    subprocess.run([command, "convert", name, path, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    lines = path.read_text().splitlines()[:count]
    path.write_text("\n".join(lines) + "\n")
    return path, [json.loads(line) for line in lines]


def size(graph):
    return len(graph["x"] if "x" in graph else graph["node_labels"])


def adjacency(graph):
    matrix = np.zeros((size(graph), size(graph)))
    for u, v, *weight in graph["edges"]:
        matrix[u, v] = matrix[v, u] = weight[0] if weight else 1.0
    return matrix


def label_sequences(graphs, rounds):
    """Weisfeiler–Lehman labels of every node, a row a node."""
    codes = {}
    code = lambda key: codes.setdefault(key, len(codes))
    sequences = []
    for graph in graphs:
        matrix = adjacency(graph)
        labels = [[code((0, label)) for label in graph["node_labels"]]]
        for _ in range(rounds):
            last = labels[-1]
            around = lambda u: tuple(sorted(last[v] for v in np.flatnonzero(matrix[u])))
            labels.append([code((last[u], around(u))) for u in range(len(last))])
        sequences.append(np.array(labels, dtype=float).T)
    return sequences


def attribute_sequences(graphs, rounds):
    """Attributes and their averages over neighbours, a row a node."""
    rows = np.concatenate([np.array(graph["x"], dtype=float) for graph in graphs])
    deviation = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    rows = rows.astype(np.float32).astype(float)  # as the command keeps features
    sequences, start = [], 0
    for graph in graphs:
        matrix = adjacency(graph)
        mean = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
        layers = [rows[start : start + size(graph)]]
        for _ in range(rounds):
            layers.append(0.5 * (layers[-1] + mean @ layers[-1]))
        sequences.append(np.concatenate(layers, axis=1))
        start += size(graph)
    return sequences


def pairwise(sequences, metric):
    """ot.emd2 for every pair, and how long it took: on the clock, and of a processor."""
    count = len(sequences)
    distances = np.zeros((count, count))
    started, used = time.perf_counter(), time.process_time()
    for i in range(count):
        for j in range(i + 1, count):
            costs = ot.dist(sequences[i], sequences[j], metric=metric)
            distances[i, j] = distances[j, i] = ot.emd2([], [], costs)
    return distances, time.perf_counter() - started, time.process_time() - used


def wwl(command, example, name, nodes, rounds, count=None):
    """Compares all pairs of a set, and prints a line."""
    with tempfile.TemporaryDirectory() as folder:
        path, graphs = graphs_of(command, name, folder, count)
        run = lambda threads: json.loads(subprocess.run(
            [example, "wwl", path, nodes, str(rounds)], check=True, stdout=subprocess.PIPE,
            env={**os.environ, "RAYON_NUM_THREADS": str(threads)},
        ).stdout)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        alone = run(1)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        together = run(0)
    # With reading and writing, which POT's time is without.
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert alone["distances"] == together["distances"], "threads change the result"
    if nodes == "labels":
        theirs, seconds, their_use = pairwise(label_sequences(graphs, rounds), "hamming")
    else:
        theirs, seconds, their_use = pairwise(attribute_sequences(graphs, rounds), "euclidean")
    apart = np.abs(np.array(together["distances"]) - theirs).max()
    print(
        f"WWL, {name}, {nodes}, {len(graphs)} graphs, {rounds} rounds: at most {apart:.1e} apart;"
        f" {together['seconds']:.3f} s on all cores, {alone['seconds']:.3f} s on one,"
        f" POT {seconds:.2f} s: ratio {seconds / together['seconds']:.0f}"
        f" and {seconds / alone['seconds']:.0f}; of processor time {used:.2f} s on one thread,"
        f" POT {their_use:.2f} s: ratio {their_use / used:.1f}",
        flush=True,
    )
    return apart


def random_graph(rng):
    """A sparse graph with weights and two attributes, nothing in it tied."""
    count = int(rng.integers(5, 25))
    pairs = [(u, v) for u in range(count) for v in range(u) if rng.random() < 0.3]
    # Weights as single precision keeps them.
    edges = [[u, v, float(np.float32(rng.uniform(0.5, 2.0)))] for u, v in pairs]
    return {"nodes": list(range(count)), "edges": edges, "x": rng.normal(size=(count, 2)).tolist()}


def fgw(example, alpha, count):
    """Compares the square form on random pairs, from the same start, and prints a line."""
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng) for _ in range(2 * count)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
        output = subprocess.run([example, "fgw", path, str(alpha)], check=True, stdout=subprocess.PIPE)
    ours = json.loads(output.stdout)
    theirs, started = [], time.perf_counter()
    for a, b in zip(graphs[::2], graphs[1::2]):
        costs = ot.dist(np.array(a["x"]), np.array(b["x"]))
        theirs.append(ot.gromov.fused_gromov_wasserstein2(
            costs, adjacency(a), adjacency(b), loss_fun="square_loss", alpha=alpha,
            symmetric=True, max_iter=1000, tol_rel=1e-12, tol_abs=1e-12,
        ))
    seconds = time.perf_counter() - started
    apart = np.abs(np.array(ours["distances"]) - np.array(theirs)).max()
    print(
        f"FGW, α = {alpha}, {count} random pairs: at most {apart:.1e} apart;"
        f" {ours['seconds']:.3f} s, POT {seconds:.2f} s: ratio {seconds / ours['seconds']:.0f}",
        flush=True,
    )
    return apart


def parity(command, example):
    apart = [wwl(command, example, "MUTAG", "labels", 3, 60)]
    apart.append(wwl(command, example, "ENZYMES", "labels", 3, 60))
    apart.append(wwl(command, example, "ENZYMES", "attributes", 2, 60))
    apart += [fgw(example, alpha, 40) for alpha in (0.2, 0.5, 0.8)]
    assert max(apart) < SAME, "distances differ"


def times(command, example):
    wwl(command, example, "MUTAG", "labels", 4)
    wwl(command, example, "ENZYMES", "labels", 4)
    wwl(command, example, "ENZYMES", "attributes", 4)
    fgw(example, 0.5, 100)


{"parity": parity, "times": times}[sys.argv[1]](*sys.argv[2:])
