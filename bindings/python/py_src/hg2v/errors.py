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


#: An option as a word of its own; the names of files and labels may have dashes, too.
_OPTION = re.compile(r"(?<![^\s(`])--([a-z][a-z-]*)(?=[`).,:;]*(?:\s|$))")


class _Said(HG2VError):
    """A message of the Rust crates, in which options are spelled as the command has them."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_OPTION.sub(lambda m: m[1].replace("-", "_"), message))


class InputError(_Said, ValueError):
    """A file, a table or a graph that cannot be used as it is."""


class ParameterError(_Said, ValueError):
    """A parameter outside its domain."""


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


def not_fitted(estimator: object) -> NotFittedError:
    """The error of an estimator without a model: scikit-learn's too, where that is loaded."""
    message = f"this {type(estimator).__name__} is not fitted yet; call fit first, or load a model"
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotFittedError(message)
    bases = (NotFittedError, exceptions.NotFittedError)
    return type("NotFittedError", bases, {"__module__": __name__})(message)


def shown(value: Any) -> str:
    """A value as it stands in a message: numpy's as Python's, and cut to a readable length."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    text = repr(plain)
    return text if len(text) <= 60 else text[:60] + "…"
