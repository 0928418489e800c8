"""Our layers beside PyTorch Geometric's: the same numbers in, outputs and gradients compared.

    layers.py target/release/examples/layers

Random graphs, features and weights in f64 go to our program as JSON (examples/layers.rs says
which) and through GINConv, GINEConv, dense_diff_pool and dense_mincut_pool. Every output and every gradient
must agree to 1e-9 of its size. Exit code 1 otherwise.
"""

import json
import subprocess
import sys

import torch
from torch_geometric.nn import GINConv, GINEConv, dense_diff_pool, dense_mincut_pool

TOLERANCE = 1e-9


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def graphs(count, nodes):
    """Symmetric zeros and ones without a diagonal; no node alone, for PyG divides by degrees."""
    a = (torch.rand(count, nodes, nodes) < 0.4).double().triu(1)
    for v in range(1, nodes):
        a[:, v - 1, v] = 1
    return a + a.transpose(1, 2)


def gin_case(count, nodes, dim, width):
    inputs = {
        "x": random(count * nodes, dim),
        "epsilon": random(1, 1),
        "w1": random(dim, width),
        "b1": random(1, width),
        "w2": random(width, width),
        "b2": random(1, width),
    }
    weights = {"y": random(count * nodes, width)}
    return {"layer": "gin", "sparse": True, "adjacency": graphs(count, nodes), "inputs": inputs, "weights": weights}


def gin(case):
    v = variables(case)
    first = torch.nn.Linear(*case["inputs"]["w1"].shape, dtype=torch.float64)
    second = torch.nn.Linear(*case["inputs"]["w2"].shape, dtype=torch.float64)
    inside = torch.nn.BatchNorm1d(first.out_features, dtype=torch.float64)
    mlp = torch.nn.Sequential(first, inside, torch.nn.ReLU(), second)
    conv = GINConv(mlp, train_eps=True)
    named = {"eps": v["epsilon"].view(1)}
    for name, layer in (("1", "nn.0"), ("2", "nn.3")):
        named[layer + ".weight"], named[layer + ".bias"] = v["w" + name].T, v["b" + name].view(-1)
    a = torch.block_diag(*case["adjacency"])
    y = torch.func.functional_call(conv, named, (v["x"], a.nonzero().T))
    return v, {"y": y}


def gine_case(count, nodes, dim, width, numbers):
    case = gin_case(count, nodes, dim, width)
    edges = int(case["adjacency"].sum())
    case["inputs"] |= {"e": random(edges, numbers).float().double(), "we": random(numbers, dim), "be": random(1, dim)}
    return case | {"layer": "gine"}


def gine(case):
    v = variables(case)
    e = v.pop("e").detach()
    first = torch.nn.Linear(*case["inputs"]["w1"].shape, dtype=torch.float64)
    second = torch.nn.Linear(*case["inputs"]["w2"].shape, dtype=torch.float64)
    inside = torch.nn.BatchNorm1d(first.out_features, dtype=torch.float64)
    mlp = torch.nn.Sequential(first, inside, torch.nn.ReLU(), second)
    conv = GINEConv(mlp, train_eps=True, edge_dim=e.shape[1]).double()
    named = {"eps": v["epsilon"].view(1), "lin.weight": v["we"].T, "lin.bias": v["be"].view(-1)}
    for name, layer in (("1", "nn.0"), ("2", "nn.3")):
        named[layer + ".weight"], named[layer + ".bias"] = v["w" + name].T, v["b" + name].view(-1)
    # A message goes from the first of a pair to the second.
    pairs = torch.block_diag(*case["adjacency"]).nonzero().T.flip(0)
    return v, {"y": torch.func.functional_call(conv, named, (v["x"], pairs, e))}


def pool_case(layer, sparse, count, nodes, dim, clusters):
    a = graphs(count, nodes)
    if not sparse:
        a = torch.rand(count, nodes, nodes, dtype=torch.float64)
        a = a + a.transpose(1, 2)
    inputs = {"x": random(count * nodes, dim), "s": random(count * nodes, clusters)}
    losses = ("link", "entropy") if layer == "diffpool" else ("cut", "ortho")
    weights = {name: random(1, 1) for name in losses}
    weights |= {"x": random(count * clusters, dim), "a": random(count * clusters, clusters)}
    return {"layer": layer, "sparse": sparse, "adjacency": a, "inputs": inputs, "weights": weights}


def pool(case):
    v = variables(case)
    if not case["sparse"]:
        v["a"] = case["adjacency"].clone().flatten(0, 1).requires_grad_()
    a = v["a"] if "a" in v else case["adjacency"]
    a = a.view(case["adjacency"].shape)
    count, nodes, _ = a.shape
    x, s = (v[name].view(count, nodes, -1) for name in ("x", "s"))
    function = dense_diff_pool if case["layer"] == "diffpool" else dense_mincut_pool
    x, a, first, second = function(x, a, s)
    names = ("link", "entropy") if case["layer"] == "diffpool" else ("cut", "ortho")
    losses = {name: loss.view(1, 1) for name, loss in zip(names, (first, second))}
    return v, {"x": x.flatten(0, 1), "a": a.flatten(0, 1), **losses}


def variables(case):
    return {name: value.clone().requires_grad_() for name, value in case["inputs"].items()}


def plain(value):
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return value.tolist() if isinstance(value, torch.Tensor) else value


def main(program):
    torch.manual_seed(0)
    cases = [gin_case(3, 7, 4, 5), gin_case(1, 20, 3, 16), gine_case(3, 7, 4, 5, 2), gine_case(1, 20, 3, 16, 6)]
    for layer in ("diffpool", "mincut"):
        for sparse in (True, False):
            cases += [pool_case(layer, sparse, 1, 9, 4, 3), pool_case(layer, sparse, 4, 12, 5, 6)]
    asked = json.dumps([plain(case) for case in cases])
    answers = json.loads(subprocess.run([program], input=asked, capture_output=True, text=True, check=True).stdout)
    failed = 0
    for case, answer in zip(cases, answers, strict=True):
        v, outputs = {"gin": gin, "gine": gine}.get(case["layer"], pool)(case)
        loss = sum((case["weights"][name] * y).sum() for name, y in outputs.items())
        gradients = dict(zip(v, torch.autograd.grad(loss, list(v.values()))))
        worst = 0.0
        for part, theirs in (("outputs", outputs), ("gradients", gradients)):
            assert answer[part].keys() == theirs.keys(), (answer[part].keys(), theirs.keys())
            for name, value in theirs.items():
                ours = torch.tensor(answer[part][name], dtype=torch.float64)
                assert ours.shape == value.shape, (name, ours.shape, value.shape)
                off = ((ours - value).abs().max() / value.abs().max().clamp(min=1e-3)).item()
                worst = max(worst, off)
                if not off <= TOLERANCE:
                    failed += 1
                    print(f"  {part} {name}: off by {off:.1e} of its size")
        shape = "×".join(map(str, case["adjacency"].shape))
        kind = "sparse" if case["sparse"] else "dense"
        print(f"{case['layer']} {kind} {shape}: at most {worst:.1e} apart")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1])
