"""What can go wrong.

Every exception of hg2v is an :class:`HG2VError`, and also what Python would call it: a
``ValueError``, an ``OSError``. Messages say what was found, where, and what to do.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = [
    "DeviceError",
    "FileError",
    "HG2VError",
    "InputError",
    "InternalError",
    "NotFittedError",
    "ParameterError",
]


class HG2VError(Exception):
    """Anything that hg2v refuses or fails at."""


class InputError(HG2VError, ValueError):
    """A file, a table or a graph that cannot be used as it is.

    Attributes:
        problem: what is wrong with it.
        fix: what to do about it; ``None`` where nothing more can be said.
        graph: the position of the graph that is at fault; ``None`` where it is no single one.
        file: the file that it stands in, as text; ``None`` where it came from no file.
        line, record, byte: where in the file; lines and records are counted from 1.
        kind: what kind of problem it is, where programs may want to know: ``"attributes"`` and
            ``"labels"`` (the model expects others), ``"column"``, ``"changed"``, ``"format"``,
            ``"limit"``, ``"negative-weight"``, ``"no-graphs"``, ``"not-found"``,
            ``"unfinished"``, ``"unlike"`` (graphs that are not alike), ``"version"``, …;
            ``"malformed"`` is everything else.
    """

    def __init__(
        self,
        problem: str = "",
        graph: int | None = None,
        within: str = "",
        *,
        fix: str | None = None,
        file: str | None = None,
        line: int | None = None,
        record: int | None = None,
        byte: int | None = None,
        kind: str = "malformed",
    ) -> None:
        self.problem = f"{within}: {problem}" if within else problem
        self.fix = fix
        self.graph = graph
        self.file, self.line, self.record, self.byte = file, line, record, byte
        self.kind = kind
        self._within = within
        super().__init__(self._place() + self.said)

    @property
    def said(self) -> str:
        """The problem and what to do about it, without its place."""
        return self.problem if self.fix is None else f"{self.problem}; {self.fix}"

    def _place(self) -> str:
        if self.graph is not None:
            return f"graph {self.graph}{', ' if self._within else ': '}"
        if self.file is None:
            return ""
        named = {"line": self.line, "record": self.record, "byte": self.byte}
        where = [f", {name} {at}" for name, at in named.items() if at is not None]
        return f"{self.file}{''.join(where)}: "

    def _changed(self, **fields: Any) -> InputError:
        """The same error, but for some fields."""
        other = InputError()
        other.__dict__.update({**self.__dict__, **fields})
        other.args = (other._place() + other.said,)
        return other

    def of_graph(self, position: int) -> InputError:
        """The same of the graph at ``position``."""
        return self._changed(graph=position)

    def without_fix(self) -> InputError:
        """The same where the advice cannot be followed."""
        return self._changed(fix=None)

    def hinting(self, hint: str) -> InputError:
        """The same with a hint after the advice."""
        return self._changed(fix=hint if self.fix is None else f"{self.fix}; {hint}")


class ParameterError(HG2VError, ValueError):
    """A parameter outside its domain.

    Attributes:
        parameter: its name; ``None`` where it is no single one.
        value: the value that it has, as text.
        requirement: what it must be.
    """

    def __init__(
        self, requirement: str = "", parameter: str | None = None, value: str | None = None
    ) -> None:
        self.parameter, self.value, self.requirement = parameter, value, requirement
        place = "" if parameter is None else f"{parameter} is {value}, but "
        super().__init__(place + requirement)


class FileError(HG2VError, OSError):
    """The system refused to read or write; ``errno`` and ``filename`` are set."""

    def __str__(self) -> str:
        return str(self.strerror)


class DeviceError(HG2VError, RuntimeError):
    """A GPU that cannot be used, or failed."""


class InternalError(HG2VError, RuntimeError):
    """A mistake in hg2v itself."""


class NotFittedError(HG2VError, ValueError, AttributeError):
    """An estimator that was not fitted yet."""


def not_fitted(message: str) -> NotFittedError:
    """The error of an estimator without a model: scikit-learn's too, where that is loaded."""
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotFittedError(message)
    bases = (NotFittedError, exceptions.NotFittedError)
    return type("NotFittedError", bases, {"__module__": __name__})(message)


def shown(value: Any) -> str:
    """A value as it stands in a message: numpy's as Python's, and cut to a readable length."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    try:
        text = repr(plain)
    except Exception:  # Whatever a stranger's class does.
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:60] + "…"
