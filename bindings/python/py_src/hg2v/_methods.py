"""What every method that learns vectors has in common: a model, and a folder of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _hg2v
from ._base import Estimator, seed_of
from ._hg2v import Graphs
from ._inputs import READING
from ._notices import say
from ._parameters import spelled
from ._saved import READING_FILE, place, reading_of, spelled_reading
from .errors import InputError

Self = TypeVar("Self", bound="Method")

#: The name of a number in files where it is no more than one of many.
_NAMELESS = re.compile(r"^e?(\d+)$")

#: The estimators, by the names of their methods.
METHODS: dict[str, type[Method]] = {}


class Method(Estimator[np.float32]):
    """An estimator whose model is one of the Rust side.

    Parameters are the method's options by name; ``None`` leaves one as it is by default.
    """

    atom_attributes: bool

    #: The methods it stands for, as the command and folders call them.
    _methods: ClassVar[tuple[str, ...]]

    #: Options that the command does not have, and where in the settings they are.
    _more: ClassVar[Mapping[str, str]] = {}

    #: Options that stand for many settings at once, and so for none of them.
    _starts: ClassVar[tuple[str, ...]] = ()

    #: Whether all graphs must bring the same attributes and labels.
    _alike: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A class that somebody derives from one of ours stands for nothing new.
        METHODS.update({name: cls for name in cls.__dict__.get("_methods", ())})

    def _method(self) -> str:
        """The method that it stands for."""
        return self._methods[0]

    @classmethod
    def _places(cls, method: str) -> list[tuple[str, str]]:
        """Where in the settings each parameter is. How graphs are read is no setting, though an
        option of the same name may be."""
        named = set(cls._names()) - set(READING) | {"seed"}
        options = [*_hg2v.places_of(method), *cls._more.items()]
        return [(name, where) for name, where in options if name in named]

    def _given(self) -> dict[str, Any]:
        """The parameters as options of the method."""
        given = self.get_params()
        if "random_state" in given:
            given["seed"] = seed_of(given["random_state"])
        return given

    def _settings(self) -> str:
        """The settings as the Rust side spells them."""
        method = self._method()
        given = {name: value for name, value in self._given().items() if value is not None}
        known = {name for name, _ in self._places(method)} - set(self._more) | set(self._starts)
        options = {name: value for name, value in given.items() if name in known}
        settings = json.loads(_hg2v.settings(method, spelled(options)))
        for name, where in self._more.items():
            if name in given:
                part, last = _within(settings, where)
                part[last] = given[name]
        return spelled(settings)

    @classmethod
    def _taken(cls, method: str, settings: Any) -> dict[str, Any]:
        """The parameters that settings say. A seed may stand in several places, of which the first
        is always used."""
        taken: dict[str, Any] = {}
        for name, where in cls._places(method):
            part, last = _within(settings, where)
            if isinstance(part, dict) and last in part:
                taken.setdefault("random_state" if name == "seed" else name, part[last])
        return taken

    @classmethod
    def _of(cls: type[Self], model: _hg2v.Model) -> Self:
        """An estimator around a model, its parameters as the model has them."""
        made = cls(**cls._taken(model.method(), json.loads(model.settings())))
        made.model_ = model
        made._tell(model)
        return made

    def _fit(self, data: Graphs, cache: str | None = None) -> _hg2v.Model:
        settings, method = self._settings(), self._method()
        with self._progress() as progress:
            model = _hg2v.Model.fit(
                data, method, settings, self._threads(), progress, self._device(), cache
            )
        self._tell(model)
        return model

    def _device(self) -> str:
        """Where the network runs; other methods have none."""
        return str(getattr(self, "device", "cpu"))

    def _tell(self, model: _hg2v.Model) -> None:
        """Sets the attributes that say what ``model`` is."""

    def _say_fitted(self) -> None:
        say(self.model_.notes(), self.model_.sees())

    def _transform(self, data: Graphs) -> NDArray[np.float32]:
        try:
            with self._progress() as progress:
                rows, notes = self.model_.embed(data, self._threads(), progress, self._device())
        except InputError as error:
            raise self._hinted(error) from None
        say(notes, self.model_.sees())
        return rows

    def _hinted(self, error: InputError) -> InputError:
        """What the model misses may only want to be named: a model of the command knows no names."""
        reading = self.get_params()
        unnamed = reading["attributes"] is None and reading["label"] is None
        if unnamed and error.graph is not None and error.kind in ("attributes", "labels"):
            return error.hinting("or name them: set_params(attributes=…, label=…)")
        return error

    def _unusable(self, data: Graphs, fitted: bool) -> Iterable[tuple[int, str]]:
        if fitted:
            return self.model_.unusable(data)
        settings = json.loads(self._settings())
        return data.unusable(spelled(settings.get("weights", "use")), alike=self._alike)

    def _names_out(self) -> list[str]:
        # Numbers that mean nothing by themselves are called as scikit-learn calls them.
        prefix = type(self).__name__.lower()
        return [_NAMELESS.sub(rf"{prefix}\1", name) for name in self.model_.columns()]

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the model as a folder, which the command ``hg2v embed`` reads too, with how its
        graphs are read; ``overwrite`` replaces a model that was saved there."""
        self._check_fitted()
        files = self._files()
        place(path, lambda folder: self.model_.save(os.fspath(folder), files), overwrite)

    def _files(self) -> list[tuple[str, bytes]]:
        """What stands beside a model that the command has no need to know."""
        return [(READING_FILE, spelled_reading(self.get_params()))]

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """The model of a folder that :meth:`save` or the command ``hg2v fit`` wrote; with the
        former comes back how graphs are read. :func:`hg2v.load` takes a model of any method."""
        model = _hg2v.Model.load(os.fspath(path))
        if model.method() not in cls._methods:
            raise InputError(
                f"a model of {model.method()}, not a {cls.__name__}",
                fix="load it with hg2v.load",
                file=os.fspath(path),
            )
        return cls._read(model, path)

    @classmethod
    def _read(cls: type[Self], model: _hg2v.Model, path: str | os.PathLike[str]) -> Self:
        return cls._of(model).set_params(**reading_of(path))

    def embed_arrow(self, table: Any) -> Any:
        """The vectors of a table of graphs, see :func:`hg2v.embed_arrow`."""
        from .arrow import embed_arrow

        self._check_fitted()
        params = self.get_params()
        return embed_arrow(self, table, params["n_jobs"], params["errors"])

    def embed_batches(self, data: Any) -> Any:
        """The vectors of a stream of graphs, see :func:`hg2v.embed_batches`."""
        from .arrow import embed_batches

        self._check_fitted()
        params = self.get_params()
        return embed_batches(self, data, params["n_jobs"], params["errors"])


def load(path: str | os.PathLike[str]) -> Method:
    """The model of a folder, as the estimator of whichever method learnt it.

    The folder is one that ``save`` of an estimator or the command ``hg2v fit`` wrote; with the
    former comes back how graphs are read.

    Example:
        >>> import hg2v
        >>> rings = [([range(n), [*range(1, n), 0]], None) for n in range(10, 30)]
        >>> hg2v.Graph2Vec(dim=16, epochs=2).fit(rings).save("rings.g2v")
        >>> hg2v.load("rings.g2v")
        Graph2Vec(dim=16, epochs=2)
    """
    model = _hg2v.Model.load(os.fspath(path))
    return METHODS[model.method()]._read(model, path)


def _within(settings: Any, where: str) -> tuple[Any, str]:
    """The part of ``settings`` that holds the place ``where``, if there is one, and its name
    there."""
    *path, last = where.strip("/").split("/")
    for step in path:
        settings = settings.get(step) if isinstance(settings, dict) else None
    return settings, last
