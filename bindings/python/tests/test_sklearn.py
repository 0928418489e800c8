"""scikit-learn's own checks, run on every estimator, and what its users do with them."""

import warnings

import numpy as np
import pytest

import hg2v
from test_estimators import SMALL

pytest.importorskip("sklearn")

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
        list(every()), expected_failed_checks=lambda _: EXPECTED_TO_FAIL, xfail_strict=True
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
