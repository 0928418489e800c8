"""Parameters: whether they are of the kinds that signatures say, and how Rust is told; their
domains are Rust's to check."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Set
from typing import Any

import numpy as np

from . import _words
from ._hg2v import nearest, words
from .errors import ParameterError, shown


def is_number(value: Any) -> bool:
    """Whether ``value`` is a number that a ``float`` holds."""
    plain = value.item() if isinstance(value, np.generic) else value
    return isinstance(plain, (int, float)) and abs(plain) <= sys.float_info.max


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    # A set has no order, which features and readouts need.
    listed = isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping, Set))
    return listed and all(isinstance(item, str) for item in value)


#: By annotation: what such a value is called, and whether one is it.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": (
        "a whole number of at least 0",
        lambda value: _is_whole(value) and 0 <= value < 2**64,
    ),
    "float": ("a finite number", lambda value: is_number(value) and not isinstance(value, bool)),
    "bool": ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "str": ("a text", lambda value: isinstance(value, str)),
    "Sequence[str]": ("a list of texts", _is_texts),
    "None": ("None", lambda value: value is None),
}


#: A type of words, in an annotation: such a value is a text, and which one :func:`check_words` looks at.
_OF_WORDS = re.compile(rf"\b({'|'.join(_words.__all__)})\b")


def check_kinds(function: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Refuses the first of ``values`` that is not what the signature of ``function`` says of it."""
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = _OF_WORDS.sub("str", str(parameter.annotation))
        kinds = [_KINDS.get(kind) for kind in annotation.split(" | ")]
        known = [kind for kind in kinds if kind is not None]
        if name not in values or len(known) < len(kinds):
            continue
        if not any(holds(values[name]) for _, holds in known):
            called = ", or ".join(called for called, _ in known)
            raise ParameterError(f"it must be {called}", name, shown(values[name]))


def check_one_of(name: str, value: Any, *known: str) -> None:
    """Refuses a value that is none of the words ``known``."""
    if not isinstance(value, str) or value not in known:
        *others, last = (repr(word) for word in known)
        meant = nearest(value, known) if isinstance(value, str) else None
        hint = "" if meant is None else f"; did you mean {meant!r}?"
        raise ParameterError(f"it must be {', '.join(others)} or {last}{hint}", name, shown(value))


def check_words(values: Mapping[str, Any]) -> None:
    """Refuses a word that Rust does not know, of each of ``values`` that is one of its words, or a
    list of them. What is no text is another parameter of the same name."""
    for name, known in words():
        value: Any = values.get(name)
        for word in list(value) if _is_texts(value) else [value]:
            if isinstance(word, str):
                check_one_of(name, word, *known)


#: More threads than any machine has cores are a mistake, and would take its memory.
_MOST_THREADS = 1024


def threads_of(n_jobs: Any) -> int:
    """The threads that ``n_jobs`` asks for, as scikit-learn counts them: -1 is one a core, -2 one
    less, and so on, but at least one. 0 is one a core."""
    if n_jobs is None:
        return 0
    if not _is_whole(n_jobs) or n_jobs == 0 or n_jobs > _MOST_THREADS:
        raise ParameterError(
            f"it must be None, a number from 1 to {_MOST_THREADS}, or a negative one: "
            "-1 is a thread a core, -2 one less",
            "n_jobs",
            shown(n_jobs),
        )
    return int(n_jobs) if n_jobs > 0 else int(max(_cores() + 1 + n_jobs, 1))


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spelled(params: Any, indent: int | None = None) -> str:
    """Parameters as JSON; numpy's numbers are Python's there, and every kind of list is a list."""

    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        if _is_texts(value):
            return list(value)
        raise ParameterError(f"{shown(value)} is no value of a parameter")

    return json.dumps(params, indent=indent, default=plain)
