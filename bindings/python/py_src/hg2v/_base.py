"""What scikit-learn asks of an estimator, without importing scikit-learn.

Importing it takes longer than everything else here together, and it need not be installed.
``get_params``, ``set_params``, tags and ``set_output`` are all that ``clone``, ``Pipeline`` and
``GridSearchCV`` look at.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Generic, Literal, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from ._hg2v import Graphs
from ._inputs import READING, read
from ._long import is_long
from ._notices import say_odd, say_refused
from ._parameters import check_kinds, check_one_of, check_words, threads_of
from ._progress import progress
from ._read import Read
from ._words import OnError, Output
from .errors import InputError, ParameterError, not_fitted, shown

Self = TypeVar("Self", bound="Estimator[Any]")

#: The numbers of a row.
Number = TypeVar("Number", np.float32, np.float64)

#: What becomes of the rows of graphs that cannot be used.
_NAN = "and their rows are NaN"


class Estimator(Generic[Number]):
    """Parameters are stored by ``__init__`` and looked at by ``fit``."""

    errors: OnError
    n_jobs: int | None

    #: Whether a graph's row is a vector of its own that is zero wherever it has no nodes.
    _vectors = True

    #: Whether it looks at pyramids.
    _coarsens = False

    #: What rows are made of.
    _dtype: Any = np.float32

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters by name."""
        known = self._names()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(
                    f"{name!r} is no parameter of {type(self).__name__}; "
                    f"known are {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str | None:
        """scikit-learn's diagram and table of parameters; without scikit-learn, notebooks show the
        text."""
        try:
            from sklearn import get_config
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        return estimator_html_repr(self) if get_config()["display"] == "diagram" else None

    def _get_params_html(self, *args: Any, **named: Any) -> Any:
        """What the diagram asks for, of a pipeline's, too."""
        from sklearn.base import BaseEstimator

        return BaseEstimator._get_params_html(self, *args, **named)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            # Graphs come as SMILES and mappings, among others; a missing one is NaN. Kernels are not
            # pairwise: it is the rows they give that are, and `SVC(kernel="precomputed")` says so.
            input_tags=InputTags(
                two_d_array=False, string=True, dict=True, allow_nan=self.errors == "nan"
            ),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # Sub-classes

    def _fit(self, data: Graphs) -> Any:
        raise NotImplementedError

    def _transform(self, data: Graphs) -> NDArray[Number]:
        raise NotImplementedError

    def _unusable(self, data: Graphs, fitted: bool) -> Iterable[tuple[int, str]]:
        """The graphs that could not be fitted or, where the estimator is ``fitted``,
        transformed."""
        return data.unusable('"use"', alike=False)

    def _say_fitted(self) -> None:
        """Logs what fitting met, which ``transform`` of the same graphs would say again."""

    # The estimator

    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Learns from graphs of any kind :func:`hg2v.graphs` takes; ``y`` is not looked at."""
        self._take(X, "and are left out")
        self._say_fitted()
        return self

    def transform(self, X: Any) -> NDArray[Number]:
        """A row for each graph: an array, or after :meth:`set_output` a frame."""
        self._check_fitted()
        found = self._graphs(X)
        if self._skips():
            found = found.without(self._unusable(found.graphs, fitted=True))
        return self._dressed(self._rows(found, _NAN), X)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Number]:
        """``fit(X)``, then ``transform(X)``, reading the graphs once."""
        return self._dressed(self._rows(self._take(X, f"are left out, {_NAN}")), X)

    def infer(self, graphs: Any) -> NDArray[Number]:
        """:meth:`transform`, as karateclub calls it."""
        return self.transform(graphs)

    def get_embedding(self) -> NDArray[Number]:
        """The vectors of the graphs that were fitted, as karateclub calls it."""
        self._check_fitted()
        seen = getattr(self, "_seen", None)
        if seen is None:
            raise not_fitted(
                f"this {type(self).__name__} was loaded or copied without the graphs it was fitted "
                "to; call transform(graphs)"
            )
        return self._rows(seen)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name for every number of a row."""
        self._check_fitted()
        return np.asarray(self._names_out(), dtype=object)

    def _names_out(self) -> list[str]:
        raise NotImplementedError

    @overload
    def set_output(self: Self, *, transform: Literal["default"] | None = None) -> Self: ...

    # What then transforms gives frames, which no type of an estimator says.
    @overload
    def set_output(self, *, transform: Output) -> Any: ...

    def set_output(self, *, transform: Output | None = None) -> Any:
        """What ``transform`` returns: ``"default"`` an array, ``"pandas"`` or ``"polars"`` a frame."""
        if transform is None:
            return self
        check_one_of("transform", transform, *get_args(Output))
        # The name by which scikit-learn's clone knows it.
        self._sklearn_output_config = {"transform": transform}
        return self

    def __getstate__(self) -> dict[str, Any]:
        # The training graphs are not part of the model.
        return {name: value for name, value in self.__dict__.items() if name != "_seen"}

    def _copy(self: Self) -> Self:
        """The estimator unfitted, as scikit-learn's ``clone`` makes it."""
        other = type(self)(**self.get_params())
        if hasattr(self, "_sklearn_output_config"):
            other._sklearn_output_config = copy.deepcopy(self._sklearn_output_config)
        return other

    def _check_params(self) -> None:
        """Refuses parameters of other kinds than the signature says, and words that mean nothing."""
        params = self.get_params()
        params.pop("n_jobs", None)  # -1 is a number of threads, too
        check_kinds(type(self).__init__, params)
        check_words(params)

    def _take(self, X: Any, follows: str, fit: Callable[[Graphs], Any] | None = None) -> Read:
        """Fits the graphs of ``X``, by ``fit`` where one is given; ``follows`` says what becomes of
        those that cannot be used."""
        self._check_params()
        found = self._graphs(X)
        try:
            if self._skips():
                found = found.without(self._unusable(found.graphs, fitted=False))
            found.check_any()
            self._say_refused(found, follows)
            self.model_ = (self._fit if fit is None else fit)(found.graphs)
        except InputError as error:
            raise self._at_position(error, found) from None
        self._seen = found
        return found

    def _graphs(self, X: Any) -> Read:
        reading = {name: getattr(self, name) for name in READING}
        found = read(X, reading, self._skips())
        say_odd(found.graphs, self._vectors, self._coarsens)
        return found

    def _skips(self) -> bool:
        check_one_of("errors", self.errors, *get_args(OnError))
        return self.errors == "nan"

    def _say_refused(self, found: Read, follows: str) -> None:
        if found.refused:
            say_refused(found.refused, found.count, follows)

    def _rows(self, found: Read, follows: str | None = None) -> NDArray[Number]:
        """A row for each graph; where ``follows`` is given, those without one are told."""
        if follows is not None:
            self._say_refused(found, follows)
        if len(found.graphs) == 0:
            return found.spread(np.zeros((0, len(self._names_out())), self._dtype))
        try:
            return found.spread(self._transform(found.graphs))
        except InputError as error:
            raise self._at_position(error, found) from None

    def _at_position(self, error: InputError, found: Read) -> InputError:
        """An error of a graph with its position among all that were given, and without advice
        that this estimator has no parameter for."""
        if error.kind == "negative-weight" and "weights" not in self._names():
            error = error.without_fix()
        if error.graph is None or not found.refused:
            return error
        return error.of_graph(found.kept()[error.graph])

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            name = type(self).__name__
            raise not_fitted(f"this {name} is not fitted yet; call fit first, or load a model")

    def _dressed(self, rows: np.ndarray, X: Any) -> Any:
        kind = getattr(self, "_sklearn_output_config", {}).get("transform")
        if kind is None and "sklearn" in sys.modules:
            kind = sys.modules["sklearn"].get_config()["transform_output"]
        if kind == "pandas":
            import pandas

            # One entry may be a collection of several graphs.
            framed = isinstance(X, (pandas.DataFrame, pandas.Series)) and not is_long(X)
            index = X.index if framed and len(X) == len(rows) else None
            return pandas.DataFrame(rows, index=index, columns=self.get_feature_names_out())
        if kind == "polars":
            import polars

            return polars.DataFrame(rows, schema=list(self.get_feature_names_out()), orient="row")
        return rows

    def _threads(self) -> int:
        return threads_of(self.n_jobs)

    def _progress(self) -> AbstractContextManager[Callable[[str, int, int], None] | None]:
        """Somebody who hears how far the work is, where ``verbose`` asks for it."""
        return progress(getattr(self, "verbose", False))


def seed_of(random_state: Any) -> int:
    """A seed: the number itself, or a draw of a generator. ``None`` is 0: what is not seeded
    repeats, too."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**64:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    raise ParameterError(
        "it must be a number from 0 to 2⁶⁴ − 1, None, or a generator of numpy",
        "random_state",
        shown(random_state),
    )
