"""The layer in PyTorch, and graphs of PyTorch Geometric; run by ``make test-peers``."""

import copy
import pathlib
import pickle
import sys

import numpy as np
import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import hg2v
import hg2v.torch
from shared import *  # noqa: F403  (the fixtures)
from shared import PARAMS, same

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def model(arrays):
    """The network with nothing beside or after it, as the layer has it; ``folder`` and
    ``vectors`` are its own."""
    return hg2v.HG2V(**PARAMS, preset="network").fit(arrays)


@pytest.fixture
def module(model):
    return hg2v.torch.HG2V.of(model)


@pytest.fixture
def prepared(module, arrays):
    return module.prepare(arrays)


def test_the_layer_gives_the_model_s_vectors(module, prepared, vectors):
    same(module(prepared).detach().numpy(), vectors)


def test_the_layer_is_the_network_of_a_model_that_has_more(arrays, vectors):
    module = hg2v.torch.HG2V.of(hg2v.HG2V(**PARAMS).fit(arrays))
    same(module(module.prepare(arrays)).detach().numpy(), vectors)
    with pytest.raises(hg2v.ParameterError, match="an estimator of preset='network'$"):
        module.to_estimator()


def test_names_are_those_of_the_folder(module, folder):
    safetensors = (folder / "model.safetensors").read_bytes()
    header = safetensors[8 : 8 + int.from_bytes(safetensors[:8], "little")]
    import json

    stored = {
        name: tuple(of["shape"])
        for name, of in json.loads(header).items()
        if name != "__metadata__"
    }
    ours = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert {n: int(np.prod(s)) for n, s in ours.items()} == {
        n: int(np.prod(s)) for n, s in stored.items()
    }


@pytest.mark.parametrize("loss", ["jsd", "infonce", "cosine"])
@pytest.mark.parametrize("input", [None, "tanh"])
def test_gradcheck(arrays, loss, input):
    """Finite differences in double precision: parameters and node features, vectors and loss."""
    module = hg2v.torch.HG2V(
        2, dim=3, hops=2, levels=2, loss=loss, input=input, bias=True, n_jobs=1
    ).double()
    prepared = module.prepare(arrays[:3])
    torch.manual_seed(0)
    x = torch.randn(sum(prepared.nodes), 2, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in module.named_parameters()]
    values = [p.detach().clone().requires_grad_() for _, p in module.named_parameters()]

    def of(method):
        def call(x, *values):
            own = dict(zip(names, values))
            return torch.func.functional_call(module, own, (prepared, x), {"loss": method})

        return call

    assert torch.autograd.gradcheck(of(False), (x, *values), atol=1e-7, fast_mode=False)
    assert torch.autograd.gradcheck(of(True), (x, *values), atol=1e-7, fast_mode=False)


def test_state_dict_dtype_and_pickle(module, prepared, vectors, arrays):
    other = hg2v.torch.HG2V(2, **PARAMS)
    other.load_state_dict(module.state_dict())
    x = prepared.x
    same(other(other.prepare(arrays), x).detach().numpy(), vectors)
    twin = copy.deepcopy(module)
    same(twin(prepared).detach().numpy(), vectors)
    twin.level.__getattr__("0").theta1.weight.data.zero_()
    same(module(prepared).detach().numpy(), vectors)
    double = module.double()(prepared)
    assert double.dtype == torch.float64
    np.testing.assert_allclose(double.detach().numpy(), vectors, rtol=1e-4, atol=1e-4)
    with pytest.raises(hg2v.ParameterError, match="float32 or float64"):
        module.to(torch.float16)(prepared)


def test_one_step_is_the_command_s(arrays, command, tmp_path):
    """One step of Adam on all graphs, here and there."""
    lr, n = 1e-3, len(arrays)
    hg2v.graphs(arrays).write(str(tmp_path / "g.jsonl"))
    command(
        "fit", tmp_path / "g.jsonl", "--out", tmp_path / "m", "--dim", 8, "--hops", 2, "--levels", 2,
        "--epochs", 1, "--batch", n, "--lr", lr, "--seed", 3,
    )  # fmt: skip
    trained = hg2v.load(tmp_path / "m")
    module = hg2v.torch.HG2V.of(trained.untrained())
    prepared = module.prepare(arrays)
    optimiser = torch.optim.Adam(module.parameters(), lr=lr)
    loss = module.loss(prepared)
    loss.backward()
    optimiser.step()
    for (name, ours), theirs in zip(
        module.named_parameters(), hg2v.torch.HG2V.of(trained).parameters(), strict=True
    ):
        moved = (theirs - ours).abs().max().item()
        # A step moves a number by about lr; both agree to some ten-thousandth of that, but
        # where the gradient is nothing but rounding.
        assert moved < 1e-2 * lr, (name, moved)
    line = (tmp_path / "m" / "log.jsonl").read_text()
    import json

    assert abs(json.loads(line)["loss"] - loss.item()) < 1e-4 * abs(loss.item())


def test_features_before_it_are_trained_by_its_loss(arrays):
    """A small MLP makes the features; HG2V's loss falls by training both."""
    torch.manual_seed(1)
    before = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    module = hg2v.torch.HG2V(4, dim=8, hops=2, levels=2)
    prepared = module.prepare([dict(one, x=None) for one in arrays])
    raw = torch.tensor(np.concatenate([one["x"] for one in arrays]), dtype=torch.float32)
    first_weights = before[0].weight.detach().clone()
    optimiser = torch.optim.Adam([*before.parameters(), *module.parameters()], lr=1e-2)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        loss = module.loss(prepared, before(raw))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0], losses
    assert (before[0].weight - first_weights).abs().max() > 1e-3


def test_a_classifier_after_it_tunes_the_whole(module, prepared, arrays):
    torch.manual_seed(1)
    y = torch.tensor([one["y"] for one in arrays])
    head = torch.nn.Linear(module.dim, 2)
    first = [p.detach().clone() for p in module.parameters()]
    optimiser = torch.optim.Adam([*module.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(60):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(head(module(prepared)), y)
        loss.backward()
        optimiser.step()
    right = (head(module(prepared)).argmax(1) == y).float().mean()
    assert right > 0.95 and loss < 0.3
    assert all((p - q).abs().max() > 0 for p, q in zip(module.parameters(), first))
    tuned = module.to_estimator()
    same(tuned.transform(arrays), module(prepared).detach().numpy())
    same(pickle.loads(pickle.dumps(tuned)).transform(arrays), tuned.transform(arrays))


def test_graphs_are_read_as_the_estimator_reads_them(arrays):
    nx = pytest.importorskip("networkx")
    graphs = []
    for one in arrays[:8]:
        graph = nx.Graph()
        graph.add_nodes_from((v, {"charge": row}) for v, row in enumerate(one["x"]))
        graph.add_edges_from(one["edge_index"].T.tolist())
        graphs.append(graph)
    model = hg2v.HG2V(**PARAMS, preset="network", attributes="charge").fit(graphs)
    module = hg2v.torch.HG2V.of(model)
    same(module(module.prepare(graphs)).detach().numpy(), model.transform(graphs))
    assert module.to_estimator().attributes == "charge"


def test_wrong_shapes_are_refused(module, prepared):
    with pytest.raises(hg2v.ParameterError, match="numbers of each"):
        module(prepared, torch.zeros(3, 2))
    with pytest.raises(hg2v.ParameterError, match="give x"):
        bare = hg2v.torch.HG2V(5)
        bare(bare.prepare([([[0, 1], [1, 2]], None)]))
    bad = torch.full((sum(prepared.nodes), 2), float("nan"))
    assert torch.isnan(module(prepared, bad)).any()


# PyTorch Geometric


def pyg_data(arrays):
    from torch_geometric.data import Data

    made = []
    for one in arrays:
        ends = torch.from_numpy(one["edge_index"])
        weight = torch.from_numpy(one["weight"])
        made.append(
            Data(
                edge_index=torch.cat([ends, ends.flip(0)], dim=1),
                edge_weight=torch.cat([weight, weight]),
                x=torch.from_numpy(one["x"]),
                y=torch.tensor([one["y"]]),
                num_nodes=one["num_nodes"],
            )
        )
    return made


def pyg_dataset(arrays):
    from torch_geometric.data import InMemoryDataset

    class Made(InMemoryDataset):
        def __init__(self):
            super().__init__(None)
            self.data, self.slices = self.collate(pyg_data(arrays))

    return Made()


def test_pytorch_geometric(arrays, vectors, model):
    from torch_geometric.data import Batch

    data = pyg_data(arrays)
    same(model.transform(data), vectors)
    same(model.transform(Batch.from_data_list(data)), vectors)
    whole = pyg_dataset(arrays)
    same(model.transform(whole), vectors)
    same(model.transform(whole[10:20]), vectors[10:20])
    assert hg2v.graphs(whole).labels() == [one["y"] for one in arrays]
    with pytest.raises(hg2v.InputError, match="graph 1: it has no edge_index"):
        from torch_geometric.data import Data

        model.transform([data[0], Data(x=torch.zeros(3, 2))])
    claimed = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=10**9)
    with pytest.raises(hg2v.InputError, match="1000000000 nodes"):
        hg2v.HG2V().fit([claimed])


def test_adjacency_tensors():
    ring = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    stack = torch.stack([ring, ring * 2])
    for given in (stack, list(stack), stack.numpy()):
        assert hg2v.graphs(given).num_nodes().tolist() == [3, 3]
    assert len(hg2v.graphs(ring)) == 1
    with pytest.raises(hg2v.InputError, match=r"^graph 0: .* has the shape \(2, 3\)"):
        hg2v.graphs(torch.zeros(2, 3))


def test_bad_graphs_of_pytorch_geometric(arrays, vectors, model, caplog):
    from torch_geometric.data import Batch, Data

    bad = [
        Data(x=torch.zeros(3, 2)),
        Data(edge_index=torch.tensor([[0], [1]])),
        Data(edge_index=torch.tensor([[0], [5]]), x=torch.zeros(2, 2)),
        Data(edge_index=torch.tensor([[0], [1]]), x=torch.full((2, 2), torch.nan)),
        Batch.from_data_list(pyg_data(arrays[:2])),
    ]
    tolerant = hg2v.HG2V(**PARAMS, errors="nan")
    tolerant.model_ = model.model_
    rows = tolerant.transform([*bad, *pyg_data(arrays)])
    assert np.isnan(rows[: len(bad)]).all()
    same(rows[len(bad) :], vectors)
    assert caplog.messages[-1].startswith("5 of 45 graphs cannot be used, and their rows are NaN")
    # What is held whole is taken apart where one of it is bad.
    spoilt = [*arrays, {**arrays[0], "x": np.full_like(arrays[0]["x"], np.nan)}]
    for whole in (pyg_dataset(spoilt), Batch.from_data_list(pyg_data(spoilt))):
        with pytest.raises(hg2v.InputError, match="^graph 40, node 0: attribute 'x' is nan"):
            model.transform(whole)
        rows = tolerant.transform(whole)
        same(rows[:-1], vectors)
        assert np.isnan(rows[-1]).all()
    with pytest.raises(hg2v.InputError, match="^graph 1: it is a batch of 2 graphs; give the gra"):
        model.transform([pyg_data(arrays)[0], bad[-1]])


def test_attributes_beside_x_are_named(arrays, caplog):
    from torch_geometric.data import Batch

    data = pyg_data(arrays)
    for one in data:
        one.pos = torch.zeros(one.num_nodes, 3)
        one.edge_attr = torch.zeros(one.num_edges, 4)
        one.smiles = "C"
    # `edge_attr` is PyTorch Geometric's own name for what an edge carries: it is used.
    said = ["node attribute 'pos' (numbers) is not used"]
    for given in (data, Batch.from_data_list(data)):
        caplog.clear()
        hg2v.graphs(given)
        assert [message.partition(";")[0] for message in caplog.messages] == said
    caplog.clear()
    dgl = pytest.importorskip("dgl")
    graph = dgl.graph(tuple(data[0].edge_index), num_nodes=data[0].num_nodes)
    graph.ndata.update(x=data[0].x, pos=data[0].pos)
    graph.edata.update(edge_weight=data[0].edge_weight, edge_attr=data[0].edge_attr)
    hg2v.graphs([graph, graph])
    assert [message.partition(";")[0] for message in caplog.messages] == said


def test_dgl(arrays, vectors, model):
    dgl = pytest.importorskip("dgl")
    made = []
    for data in pyg_data(arrays):
        made.append(dgl.graph(tuple(data.edge_index), num_nodes=data.num_nodes))
        made[-1].ndata["x"] = data.x
        made[-1].edata["edge_weight"] = data.edge_weight
    same(model.transform(made), vectors)
    same(model.transform(dgl.batch(made)), vectors)
    with pytest.raises(hg2v.InputError, match="give a list of graphs"):
        model.transform(made[0])
    with pytest.raises(hg2v.InputError, match="^graph 1: it is a batch of 40 graphs"):
        model.transform([made[0], dgl.batch(made)])
