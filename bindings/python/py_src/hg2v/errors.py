"""What can go wrong.

Every exception of hg2v is an :class:`HG2VError`, and also what Python would call it: a
``ValueError``, an ``OSError``. Messages say what was found, where, and what to do.
"""

from __future__ import annotations

import re
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


#: What the Rust crates advise to users of the command, and what users of Python can do.
_ADVICE = {
    "--weights abs": "weights='abs'",
    "--weights ignore": "weights='ignore'",
    "train without attributes: --attributes false": "leave `x` out of all of them",
    "train without node labels: --labels false": "leave the labels out of all of them",
    "with --data-dir or HG2V_DATA": "with the environment variable HG2V_DATA",
    ", or say --format": "",
}

#: A limit that only the command can raise, as a word of its own: names of files and labels may
#: have dashes, too.
_LIMIT = re.compile(r"(?<![^\s(`])--max-[a-z-]+(?=[`).,:;]*(?:\s|$))")


def in_python(message: str) -> str:
    """A message of the Rust crates, which speak to users of the command, for users of Python."""
    for theirs, ours in _ADVICE.items():
        message = message.replace(theirs, ours)
    return _LIMIT.sub(r"\g<0> of the command hg2v", message)


class _Said(HG2VError):
    """A message that the Rust crates may have written."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))


class InputError(_Said, ValueError):
    """A file, a table or a graph that cannot be used as it is.

    Attributes:
        graph: the position of the graph that is at fault; ``None`` where it is no single one.
        problem: what is wrong with it.
    """

    def __init__(self, message: str = "", graph: int | None = None, within: str = "") -> None:
        problem = f"{within}: {message}" if within else message
        self.graph = graph
        self.problem = in_python(problem)
        self._within, self._message = within, message
        place = "" if graph is None else f"graph {graph}{', ' if within else ': '}"
        super().__init__(f"{place}{problem}")

    def of_graph(self, position: int) -> InputError:
        """The same of the graph at ``position``."""
        return InputError(self._message, position, self._within)


class ParameterError(_Said, ValueError):
    """A parameter outside its domain."""

    def __init__(self, message: str = "") -> None:
        # The command's names have dashes.
        spelled = re.match(r"-{0,2}([a-z-]+) is ", message)
        if spelled:
            message = spelled[1].replace("-", "_") + message[spelled.end(1) :]
        super().__init__(message)


class FileError(HG2VError, OSError):
    """The system refused to read or write; ``errno`` and ``filename`` are set."""

    def __str__(self) -> str:
        return str(self.strerror)


class DeviceError(_Said, RuntimeError):
    """A graphics card that cannot be used, or failed."""


class InternalError(_Said, RuntimeError):
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
