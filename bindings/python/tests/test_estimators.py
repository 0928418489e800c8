"""Estimators as scikit-learn and karateclub have them."""

import contextlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import hg2v
from hg2v import _methods
from shared import PARAMS, same

SMALL = {
    hg2v.HG2V: PARAMS,
    hg2v.Untrained: PARAMS,
    hg2v.Graph2VecGNN: PARAMS,
    hg2v.Graph2Vec: dict(dim=8, epochs=2, random_state=3),
    hg2v.Graph2VecLoukas: dict(dim=8, epochs=2, random_state=3),
    hg2v.InfoGraph: dict(dim=4, layers=2, epochs=2, random_state=3),
    hg2v.Statistics: {},
    hg2v.KernelVectors: dict(dim=6, rounds=2, random_state=3),
    hg2v.WLSubtree: dict(rounds=2),
    hg2v.WLOptimalAssignment: dict(rounds=2),
    hg2v.WassersteinWL: dict(rounds=1),
}


@pytest.fixture(params=SMALL, ids=lambda kind: kind.__name__)
def estimator(request):
    return request.param(**SMALL[request.param])


def close(estimator, a, b):
    """The same bits of vectors; kernels with copies of the known graphs round a little
    differently from kernels among them."""
    kernel = not isinstance(estimator, _methods.Method)
    np.testing.assert_allclose(a, b, rtol=1e-5 if kernel else 0)


def test_fit_transform_is_fit_then_transform(estimator, arrays):
    both = estimator.fit_transform(arrays)
    again = type(estimator)(**estimator.get_params()).fit(arrays).transform(hg2v.graphs(arrays))
    close(estimator, both, again)
    assert len(estimator.get_feature_names_out()) == both.shape[1]
    np.testing.assert_array_equal(estimator.get_embedding(), both)
    close(estimator, estimator.infer(arrays[:3]), both[:3])


def test_pickle_and_clone(estimator, arrays):
    sklearn = pytest.importorskip("sklearn.base")
    rows = estimator.fit_transform(arrays)
    close(estimator, pickle.loads(pickle.dumps(estimator)).transform(arrays), rows)
    other = sklearn.clone(estimator)
    assert not hasattr(other, "model_") and other.get_params() == estimator.get_params()


def test_folders_bring_estimators_back(estimator, arrays, tmp_path):
    rows = estimator.fit_transform(arrays)
    estimator.save(tmp_path / "folder")
    other = type(estimator).load(tmp_path / "folder")
    close(estimator, other.transform(arrays), rows)
    assert {**estimator.get_params(), **other.get_params()}.keys() == other.get_params().keys()
    assert other.get_params()["n_jobs"] is None


def test_pipeline_and_grid_search(arrays):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    y = [one["y"] for one in arrays]
    pipeline = make_pipeline(hg2v.HG2V(**PARAMS), StandardScaler(), LogisticRegression())
    # Attributes of the two classes differ by one deviation: any method finds that.
    assert cross_val_score(pipeline, arrays, y, cv=4).mean() > 0.9
    for data in (arrays, hg2v.graphs(arrays)):
        grid = GridSearchCV(pipeline, {"hg2v__dim": [4, 8], "hg2v__hops": [1, 2]}, cv=2)
        assert grid.fit(data, y).best_score_ > 0.9
        assert set(grid.best_params_) == {"hg2v__dim", "hg2v__hops"}
    kernel = make_pipeline(hg2v.WassersteinWL(rounds=1), SVC(kernel="precomputed"))
    assert kernel.fit(arrays[:30], y[:30]).score(arrays[30:], y[30:]) > 0.8


def test_set_output(estimator, arrays):
    pandas = pytest.importorskip("pandas")
    rows = estimator.fit_transform(arrays)
    frame = estimator.set_output(transform="pandas").transform(arrays)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(estimator.get_feature_names_out())
    close(estimator, frame.to_numpy(), rows)
    polars = pytest.importorskip("polars")
    frame = estimator.set_output(transform="polars").transform(arrays)
    assert isinstance(frame, polars.DataFrame) and frame.shape == rows.shape
    assert isinstance(estimator.set_output(transform="default").transform(arrays), np.ndarray)
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(transform_output="pandas"):
        fresh = type(estimator)(**estimator.get_params()).fit(arrays)
        assert isinstance(fresh.transform(arrays), pandas.DataFrame)


def test_set_output_survives(estimator, arrays):
    """What scikit-learn's clone copies, a pickle carries, and the control has, too."""
    pandas = pytest.importorskip("pandas")
    clone = pytest.importorskip("sklearn.base").clone
    framed = estimator.set_output(transform="pandas").fit(arrays)
    others = [clone(framed).fit(arrays), pickle.loads(pickle.dumps(framed))]
    others += [framed.untrained()] if isinstance(framed, hg2v.HG2V) else []
    for other in others:
        assert isinstance(other.transform(arrays), pandas.DataFrame)
    assert isinstance(clone(framed.set_output()).fit_transform(arrays), pandas.DataFrame)
    for nonsense in ("numpy", 3, ["pandas"], np.array(["pandas", "polars"])):
        with pytest.raises(hg2v.ParameterError, match="transform is .*, but it must be 'default'"):
            estimator.set_output(transform=nonsense)


@pytest.mark.parametrize("index", [["a", "b", "b"], [7, 3, 5], None])
def test_frames_keep_their_index(index):
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame({"src": [[0, 1]] * 3, "dst": [[1, 2]] * 3}, index=index)
    model = hg2v.HG2V(**PARAMS).set_output(transform="pandas")
    for rows in (model.fit_transform(given), model.transform(given)):
        pandas.testing.assert_index_equal(rows.index, given.index)
    listed = model.transform([([[0], [1]], None)] * 3)
    assert listed.index.tolist() == [0, 1, 2]
    several = pandas.Series([hg2v.graphs(given), hg2v.graphs(given)], index=["a", "b"])
    assert model.transform(several).index.tolist() == list(range(6))


def test_embeddings_of_what_was_fitted_are_not_saved(estimator, arrays, tmp_path):
    with pytest.raises(hg2v.errors.NotFittedError, match="not fitted yet; call fit first"):
        estimator.get_embedding()
    estimator.fit(arrays).save(tmp_path / "folder")
    for other in (type(estimator).load(tmp_path / "folder"), pickle.loads(pickle.dumps(estimator))):
        with pytest.raises(
            hg2v.errors.NotFittedError, match=r"loaded or copied.*transform\(graphs"
        ):
            other.get_embedding()


def test_threads_are_counted_as_scikit_learn_does(monkeypatch):
    from hg2v import _parameters

    monkeypatch.setattr(_parameters, "_cores", lambda: 4)
    asked = (None, -1, -2, -4, -5, -100, 1, 3)
    assert [_parameters.threads_of(n) for n in asked] == [0, 4, 3, 1, 1, 1, 1, 3]


def test_no_seed_is_a_seed(arrays):
    for kind in (hg2v.HG2V, hg2v.Graph2Vec):
        params = {**SMALL[kind], "random_state": None}
        rows = [kind(**params).fit_transform(arrays) for _ in range(2)]
        same(rows[0], rows[1])
        same(rows[0], kind(**{**params, "random_state": 0}).fit_transform(arrays))


def test_processes_of_joblib(estimator, arrays):
    joblib = pytest.importorskip("joblib")
    rows = estimator.fit_transform(arrays)
    halves = (arrays[:20], arrays[20:])
    made = joblib.Parallel(n_jobs=2)(joblib.delayed(estimator.transform)(half) for half in halves)
    close(estimator, np.concatenate(made), rows)


def test_rivals_against_their_definitions(arrays):
    """Optimal assignment counts what histograms share; rings are told apart by nothing."""
    path, ring = ([[0, 1], [1, 2]], None), ([[0, 1, 2], [1, 2, 0]], None)
    # Round 0: 3 common; round 1: path has degrees 1, 2, 1, ring 2, 2, 2: 1 common.
    # k(path, path) = k(ring, ring) = 6, k(path, ring) = 4.
    gram = hg2v.WLOptimalAssignment(rounds=1).fit_transform([path, ring])
    np.testing.assert_allclose(gram, [[1, 4 / 6], [4 / 6, 1]], rtol=1e-15)
    # The subtree kernel is the inner product of histograms, 3 | 2, 1 and 3 | 0, 3: degree 1 and 2.
    gram = hg2v.WLSubtree(rounds=1).fit_transform([path, ring])
    alike = (9 + 3) / np.sqrt((9 + 4 + 1) * (9 + 9))
    np.testing.assert_allclose(gram, [[1, alike], [alike, 1]], rtol=1e-15)
    # 𝒲 = 1/(2·2)·(0 + |2/3 − 0| + |1/3 − 1|) = 1/3
    kernel = hg2v.WassersteinWL(rounds=1, gamma=2.0, nodes="labels").fit_transform([path, ring])
    np.testing.assert_allclose(kernel[0, 1], np.exp(-2 / 3), rtol=1e-15)
    split = hg2v.WLOptimalAssignment(rounds=2).fit(arrays[:10])
    whole = hg2v.WLOptimalAssignment(rounds=2).fit_transform(arrays)
    np.testing.assert_array_equal(split.transform(arrays[10:]), whole[10:, :10])


def test_coarsen_gives_sparse_matrices(arrays):
    pytest.importorskip("scipy")
    for one in arrays[:10]:
        levels = hg2v.coarsen(one, ratio=0.7)
        fine, nothing = levels[0]
        assert nothing is None and fine.shape == (one["num_nodes"],) * 2
        for (below, _), (above, assignment) in zip(levels, levels[1:]):
            assert (assignment.sum(axis=0) == 1).all()
            together = (assignment @ below @ assignment.T).toarray()
            np.fill_diagonal(together, 0)
            np.testing.assert_allclose(above.toarray(), together, rtol=1e-6)


def test_losses_and_names(model, arrays):
    assert len(model.losses_) == PARAMS["epochs"] and len(model.losses_[0]) == PARAMS["levels"]
    assert "2 attributes" in model.features_
    assert repr(hg2v.HG2V(dim=8)) == "HG2V(dim=8)"
    network = hg2v.HG2V(**PARAMS, preset="network").fit(arrays).get_feature_names_out().tolist()
    assert len(network) == 2 * (2 + 4 * 8) and network[-1] == "x1.max.7"
    # Beside it, where nothing comes after it, and mixed.
    beside = hg2v.HG2V(**PARAMS, preset="network", slices="auto", colours=5).fit(arrays)
    names = beside.get_feature_names_out().tolist()
    assert names[: len(network)] == network and names[len(network)] == "slices.0"
    assert names[-6].startswith("slices.") and names[-5:] == [f"colours.{i}" for i in range(5)]
    names = model.get_feature_names_out().tolist()
    assert names == [f"hg2v{i}" for i in range(len(names))]


def test_the_default_is_what_its_document_says(arrays, vectors):
    options = dict(preset="network", colours=384, rounds=3, slices="auto", census="auto")
    beside = hg2v.HG2V(**PARAMS, **options).fit_transform(arrays)
    assert vectors.shape[1] == 1 << (beside.shape[1] - 1).bit_length()
    same(hg2v.HG2V(**PARAMS, **options, out_dim=2048).fit_transform(arrays), vectors)
    assert hg2v.HG2V(**PARAMS, out_dim=16).fit_transform(arrays).shape == (40, 16)


def test_attributes_are_there_once_fitted(model, folder, arrays):
    sklearn = pytest.importorskip("sklearn.base")
    assert len(pickle.loads(pickle.dumps(model)).losses_) == PARAMS["epochs"]
    for other in (model.untrained(), hg2v.load(folder), hg2v.load(folder).untrained()):
        for made in (other, pickle.loads(pickle.dumps(other))):
            assert made.losses_ == [] and made.features_ == model.features_
    for bare in (hg2v.HG2V(**PARAMS), sklearn.clone(model)):
        assert not any(hasattr(bare, name) for name in ("model_", "losses_", "features_"))
    again = hg2v.load(folder).fit(arrays)
    assert again.losses_ == model.losses_


@pytest.mark.parametrize("loss", ["jsd", "infonce", "cosine"])
def test_losses_come_back(loss, arrays, tmp_path):
    hg2v.HG2V(**PARAMS, loss=loss, temperature=0.5).fit(arrays).save(tmp_path / "model")
    loaded = hg2v.load(tmp_path / "model")
    assert loaded.loss == loss and loaded.temperature == (0.5 if loss == "cosine" else 0.2)


def test_untrained_is_the_command_s_control(model, arrays, command, folder, tmp_path):
    hg2v.graphs(arrays).write(str(tmp_path / "g.jsonl"))
    command("embed", folder, tmp_path / "g.jsonl", "--untrained", "--out", tmp_path / "u.npy")
    same(model.untrained().transform(arrays), np.load(tmp_path / "u.npy"))


def test_loaded_models_can_be_fitted_again(folder, arrays, vectors):
    same(hg2v.load(folder).fit_transform(arrays), vectors)


@pytest.mark.parametrize("options", [{"preset": "network"}, {"preset": "paper", "colours": 5}])
@pytest.mark.parametrize("kind", [hg2v.HG2V, hg2v.Untrained, hg2v.Graph2VecGNN])
def test_loaded_models_stay_without_a_last_step(kind, options, arrays, tmp_path):
    model = kind(**PARAMS, **options)
    rows = model.fit_transform(arrays)
    assert model.get_feature_names_out()[0][0] == "g"
    model.save(tmp_path / "model")
    same(hg2v.load(tmp_path / "model").fit_transform(arrays), rows)


def test_progress_and_logging(arrays, caplog):
    import logging

    with caplog.at_level(logging.INFO, "hg2v"):
        hg2v.HG2V(**PARAMS, verbose=True).fit([dict(one, edge_index=np.hstack([one["edge_index"]] * 2), weight=np.hstack([one["weight"]] * 2)) for one in arrays])  # fmt: skip
    assert "repeated edges merged" in caplog.text


@pytest.mark.parametrize(
    "kind, calls",
    [
        (hg2v.HG2V, ["coarsening", "training", "embedding"]),
        (hg2v.Graph2Vec, ["training", "embedding"]),
        (hg2v.WLOptimalAssignment, ["comparing"]),
    ],
)
def test_progress_says_what_is_done(kind, calls, arrays):
    """Rust calls now and then, with what it does."""
    from hg2v import _base

    seen = []

    @contextlib.contextmanager
    def listening(self):
        yield lambda stage, done, total: seen.append((stage, done, total))

    grids = [grid(20 + n % 7) for n in range(160 if kind is hg2v.HG2V else 600)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_base.Estimator, "_progress", listening)
        params = {**SMALL[kind], "epochs": 30} if "epochs" in SMALL[kind] else {"rounds": 7}
        kind(**params).fit_transform(grids)
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    # A fast machine is done with a stage before anybody asks.
    assert stages == [stage for stage in calls if stage in stages]
    assert seen or kind is not hg2v.HG2V
    assert all(0 <= done <= total for _, done, total in seen)


def grid(side):
    nodes = np.arange(side * side).reshape(side, side)
    across = [nodes[:, :-1].ravel(), nodes[:, 1:].ravel()]
    down = [nodes[:-1].ravel(), nodes[1:].ravel()]
    return np.hstack([across, down]), None


def test_a_bar_begins_anew_with_each_stage(capsys):
    pytest.importorskip("tqdm")
    with hg2v.HG2V(verbose=True)._progress() as show:
        for stage, total in (("coarsening", 4), ("training", 7)):
            show(stage, total, total)
    said = capsys.readouterr().err
    assert "coarsening: 100%" in said and "4/4" in said
    assert "training: 100%" in said and "7/7" in said


def test_import_is_light():
    """Nothing but numpy is imported, whatever is installed."""
    heavy = ["sklearn", "torch", "pyarrow", "networkx", "scipy", "pandas", "polars", "tqdm", "dask"]
    code = f"import sys, hg2v; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
