"""Estimators as folders: their parameters, and what they learnt.

``estimator.json`` says whose folder it is and has the parameters, ``state.json`` has the rest,
and the first has the sum of the second. (The folder of :class:`hg2v.HG2V` is the command's.)
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from typing import Any

from . import _hg2v
from .errors import FileError, InputError, ParameterError

FORMAT = 1
ESTIMATOR = "estimator.json"
STATE = "state.json"


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Writes an estimator as a new folder, whole or not at all."""
    _, (state,) = estimator.model_.__reduce__()
    params = estimator.get_params()
    # A generator has no spelling; nothing is drawn after a fit.
    if not isinstance(params.get("random_state", 0), int):
        params["random_state"] = None
    about = {
        "format": FORMAT,
        "hg2v": _hg2v.__version__,
        "estimator": type(estimator).__name__,
        "params": params,
        "sha256": hashlib.sha256(state).hexdigest(),
    }
    text = json.dumps(about, indent=2, default=list).encode()
    _hg2v.write_folder(os.fspath(path), [(ESTIMATOR, text), (STATE, state)])


def load(cls: Any, restore: Any, path: str | os.PathLike[str]) -> Any:
    """What :func:`save` wrote of an estimator of ``cls``, whose state ``restore`` reads."""
    folder = pathlib.Path(path)
    file = folder / ESTIMATOR
    about = _object(file)
    if about.get("format") != FORMAT:
        raise InputError(
            f"{file}: format {about.get('format')!r}, but this is hg2v {_hg2v.__version__}, which "
            f"reads format {FORMAT}; update hg2v, or fit again"
        )
    if about.get("estimator") != cls.__name__:
        raise InputError(
            f"{file}: a {about.get('estimator')}, not a {cls.__name__}; "
            f"load it with hg2v.{about.get('estimator')}.load"
        )
    state = _bytes(folder / STATE)
    if hashlib.sha256(state).hexdigest() != about.get("sha256"):
        raise InputError(f"{folder / STATE}: damaged, or of another model; fit and save again")
    params = about.get("params")
    if not isinstance(params, dict) or not set(params) <= set(cls._names()):
        raise InputError(f"{file}: its parameters are not those of a {cls.__name__}; fit again")
    made = cls(**params)
    try:
        made.model_ = restore(state)
    except ParameterError as error:
        raise InputError(f"{folder / STATE}: {error}; fit and save again") from error
    return made


def _bytes(file: pathlib.Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        said = f"{file}: cannot read: {error.strerror}; check the name"
        raise FileError(error.errno, said, os.fspath(file)) from error


def _object(file: pathlib.Path) -> dict[str, Any]:
    try:
        read = json.loads(_bytes(file))
    except ValueError as error:
        raise InputError(f"{file}: not JSON ({error}); fit and save again") from error
    if not isinstance(read, dict):
        raise InputError(f"{file}: not an object of JSON; fit and save again")
    return read
