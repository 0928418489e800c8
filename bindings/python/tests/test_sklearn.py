"""scikit-learn's own checks, run on every estimator, and what its users do with them."""

import re
import sys
import warnings

import numpy as np
import pytest

import hg2v
from shared import PARAMS, same
from test_estimators import SMALL

pytest.importorskip("sklearn")

from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import InputTags, estimator_checks, get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import validate_data

#: Every estimator of the wheel, quick to fit.
EACH = {
    **{kind: {**params, "n_jobs": 1} for kind, params in SMALL.items()},
    **{
        kind: dict(dim=4, hops=1, levels=1, epochs=1, n_jobs=1)
        for kind in (hg2v.HG2V, hg2v.Untrained, hg2v.Graph2VecGNN)
    },
    hg2v.Morgan: dict(dim=16, n_jobs=1),
}

#: The checks that every estimator is expected to fail, and why; one that passes is an error. All are
#: of `OF_ITS_OWN`: there is none among those that `check_estimator` runs.
EXPECTED_TO_FAIL = {
    "check_param_validation": "it reads a private table of scikit-learn's; Rust checks parameters",
    "check_transformer_get_feature_names_out": "graphs have no columns whose names could be wrong",
    "check_transformer_get_feature_names_out_pandas": "graphs have no columns, as above",
}

#: Checks that scikit-learn runs on its own estimators alone.
OF_ITS_OWN = [
    "check_dataframe_column_names_consistency",
    "check_get_feature_names_out_error",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    *EXPECTED_TO_FAIL,
]


class OnRows:
    """An estimator for rows of numbers, as scikit-learn's checks give them: a row becomes a graph, a
    ring with a node for each number; for methods of molecules, a chain with an atom for each.

    An array of numbers is no collection of graphs, and the tag ``two_d_array=False``, which every
    estimator of graphs has, turns the checks off that need one. So all of them run here.
    """

    def _graphs(self, X):
        rows = validate_data(self, X, reset=not hasattr(self, "model_"), dtype=np.float64)
        graph = chain if isinstance(self, hg2v.Morgan) else ring
        return super()._graphs([graph(row) for row in rows])

    def _take(self, X, follows):
        self.__dict__.pop("model_", None)
        return super()._take(X, follows)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = InputTags()
        return tags


def ring(row):
    n = len(row)
    return [np.arange(n), (np.arange(n) + 1) % n], row[:, None]


def chain(row):
    n = len(row)
    ends = [np.arange(n - 1), np.arange(1, n)]
    elements = ["N" if number > 0 else "C" for number in row]
    return {"edge_index": ends, "node_label": elements, "edge_label": ["single"] * (n - 1)}


def on_rows(kind):
    name = f"{kind.__name__}OnRows"
    # Pickles look for it here.
    globals()[name] = type(name, (OnRows, kind), {"__module__": __name__})
    return globals()[name]


ON_ROWS = {kind: on_rows(kind) for kind in EACH}


def every():
    """The estimators as they are, and on rows."""
    for kind, params in EACH.items():
        yield kind(**params)
        yield ON_ROWS[kind](**params)


with warnings.catch_warnings():
    # That no estimator inherits from BaseEstimator, which would import all of scikit-learn, and that
    # those of graphs are checked less.
    warnings.simplefilter("ignore")
    sklearn_checks = parametrize_with_checks(
        list(every()), expected_failed_checks=lambda _: EXPECTED_TO_FAIL
    )


@sklearn_checks
@pytest.mark.filterwarnings("ignore")
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", EACH, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", OF_ITS_OWN)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_its_own(kind, name, request):
    if name in EXPECTED_TO_FAIL:
        request.applymarker(pytest.mark.xfail(reason=EXPECTED_TO_FAIL[name], strict=True))
    getattr(estimator_checks, name)(kind.__name__, ON_ROWS[kind](**EACH[kind]))


def test_every_estimator_is_checked():
    public = {getattr(hg2v, name) for name in hg2v.__all__}
    assert {kind for kind in public if hasattr(kind, "fit_transform")} == set(EACH)


@pytest.mark.parametrize("kind", EACH, ids=lambda kind: kind.__name__)
def test_arrays_of_numbers_are_no_graphs(kind):
    """The tags say so, and scikit-learn turns its checks off for that alone."""
    with pytest.warns(match="requires input  of type .*two_d_array=False"):
        left = [check.func.__name__ for _, check in estimator_checks_generator(kind(**EACH[kind]))]
    assert left == ["check_estimator_cloneable"]
    with pytest.raises(hg2v.InputError):
        kind(**EACH[kind]).fit(np.zeros((5, 3)))
    tags = get_tags(kind(**EACH[kind], errors="nan"))
    assert tags.input_tags == InputTags(two_d_array=False, string=True, dict=True, allow_nan=True)
    assert not get_tags(kind()).input_tags.allow_nan
    assert tags.estimator_type == "transformer" and tags.requires_fit


def test_notebooks_show_the_diagram(model, arrays):
    shown = model._repr_html_()
    names = re.findall(r'class="param">\s*(\w+)', shown)
    assert set(names) == set(model.get_params()) and "sk-estimator-doc-link fitted" in shown
    told = [row for row in re.findall("<tr.*?</tr>", shown, re.DOTALL) if "user-set" in row]
    assert len(told) == len(PARAMS) and any('class="param">hops' in row for row in told)
    assert 'class="param">hops' in make_pipeline(hg2v.HG2V(), SVC())._repr_html_()
    with config_context(display="text"):
        assert model._repr_html_() is None


def test_without_scikit_learn_notebooks_show_the_text(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert model._repr_html_() is None and repr(model).startswith("HG2V(dim=8")


def test_numbers_are_named_after_their_estimator(arrays):
    for kind, first in (
        (hg2v.HG2V, "hg2v0"),
        (hg2v.Graph2Vec, "graph2vec0"),
        (hg2v.KernelVectors, "kernelvectors0"),
        (hg2v.Statistics, "nodes"),
        (hg2v.WLOptimalAssignment, "graph0"),
    ):
        assert kind(**SMALL[kind]).fit(arrays).get_feature_names_out()[0] == first
    union = make_union(hg2v.Statistics(), hg2v.Graph2Vec(**SMALL[hg2v.Graph2Vec]))
    made = union.set_output(transform="pandas").fit_transform(arrays)
    assert {"statistics__nodes", "graph2vec__graph2vec7"} <= set(made.columns)


def test_a_column_of_graphs_beside_columns_of_numbers():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"smiles": ["CCO", "c1ccccc1", "CCN"] * 4, "dose": np.arange(12.0)})
    columns = [("fingerprint", hg2v.Morgan(dim=16), "smiles"), ("dose", StandardScaler(), ["dose"])]
    both = ColumnTransformer(columns).set_output(transform="pandas").fit(table)
    made = both.transform(table[::-1])
    assert made.shape == (12, 17) and list(made.columns)[-1] == "dose__dose"
    assert made.index.tolist() == table.index[::-1].tolist()
    expected = hg2v.Morgan(dim=16).fit_transform(table["smiles"][::-1])
    np.testing.assert_array_equal(made.to_numpy()[:, :16], expected)
    tree = make_pipeline(both, DecisionTreeClassifier())
    assert cross_val_score(tree, table, table["smiles"] == "CCO", cv=3).mean() == 1.0


@pytest.mark.parametrize("kind", [hg2v.WLSubtree, hg2v.WLOptimalAssignment])
def test_kernels_are_cut_right(kind, arrays):
    """A matrix of all graphs is cut by rows and columns, and a pipeline has a matrix for each split."""
    y = [one["y"] for one in arrays]
    judge, gram = SVC(kernel="precomputed"), kind(rounds=2)
    assert get_tags(judge).input_tags.pairwise and not get_tags(gram).input_tags.pairwise
    pipeline = make_pipeline(gram, judge)
    assert not get_tags(pipeline).input_tags.pairwise
    asked = dict(cv=4, return_estimator=True)
    whole = cross_validate(judge, gram.fit_transform(arrays), y, **asked)
    split = cross_validate(pipeline, arrays, y, **asked)
    np.testing.assert_array_equal(whole["test_score"], split["test_score"])
    for of_whole, of_split in zip(whole["estimator"], split["estimator"]):
        assert of_split[0].transform(arrays[:1]).shape == (1, 30)
        np.testing.assert_allclose(of_whole.dual_coef_, of_split[1].dual_coef_, atol=1e-9)
    rounds = {f"{kind.__name__.lower()}__rounds": [1, 2], "svc__C": [0.1, 10.0]}
    found = GridSearchCV(pipeline, rounds, cv=2, error_score="raise").fit(arrays, y)
    assert found.best_params_.keys() == rounds.keys() and len(found.cv_results_["params"]) == 4


def test_metadata_goes_past(model, arrays):
    """What is known of graphs stands in them; weights are for whoever comes after."""
    y = [one["y"] for one in arrays]
    weights = np.where(np.array(y) == 1, 1.0, 1e-9)
    with config_context(enable_metadata_routing=True):
        judge = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(hg2v.HG2V(**PARAMS), judge)
        pipeline.fit(arrays, y, sample_weight=weights)
        assert set(pipeline.predict(arrays)) == {1}
        same(pipeline[0].transform(arrays), model.transform(arrays))
        with pytest.raises(TypeError, match="ids"):
            pipeline.fit(arrays, y, ids=y)


def test_nested_parameters(arrays):
    """By scikit-learn's names, in copies, and none that does not exist."""
    pipeline = make_pipeline(hg2v.HG2V(), SVC()).set_params(hg2v__lr=0.5, hg2v__loss="infonce")
    copied = clone(pipeline)
    assert copied[0] is not pipeline[0] and copied[0].get_params() == pipeline[0].get_params()
    assert copied.get_params()["hg2v__lr"] == 0.5
    with pytest.raises(ValueError, match="'rate' is no parameter of HG2V; known are dim, "):
        pipeline.set_params(hg2v__rate=0.5)
