"""Estimators as folders: their parameters, and what they learnt.

A model's folder is the command's, and ``reading.json`` beside it says how its graphs are read,
which the command has no need to know. A kernel has learnt nothing but its graphs: there
``estimator.json`` has the parameters and the sum of ``state.json``, which has the graphs.
Files of JSON have a digest of themselves, so that no changed byte gives other vectors.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from . import _hg2v
from ._inputs import READING, check_reading
from ._parameters import spelled
from .errors import FileError, HG2VError, InputError, ParameterError

FORMAT = 2
ESTIMATOR = "estimator.json"
STATE = "state.json"
READING_FILE = "reading.json"

#: The files of the command's folder; that of a training which is not finished is not among them.
_OF_THE_COMMAND = ("config.json", "model.safetensors", "log.jsonl", "run.json")

#: A file of JSON that is longer is none of ours.
_MOST_BYTES = 1 << 26


def save(estimator: Any, path: str | os.PathLike[str], overwrite: bool) -> None:
    """Writes a kernel as a folder, whole or not at all."""
    _, (state,) = estimator.model_.__reduce__()
    params = estimator.get_params()
    about = {
        "estimator": type(estimator).__name__,
        "params": params,
        "sha256": hashlib.sha256(state).hexdigest(),
    }
    files = [(ESTIMATOR, _spelled(about)), (STATE, state)]
    place(path, lambda folder: _hg2v.write_folder(os.fspath(folder), files), overwrite)


def load(cls: Any, restore: Any, path: str | os.PathLike[str]) -> Any:
    """What :func:`save` wrote of an estimator of ``cls``, whose state ``restore`` reads."""
    folder = pathlib.Path(path)
    file = folder / ESTIMATOR
    about = _versioned(file)
    if about.get("estimator") != cls.__name__:
        raise InputError(
            f"a {about.get('estimator')}, not a {cls.__name__}",
            fix=f"load it with hg2v.{about.get('estimator')}.load",
            file=str(file),
        )
    state = _bytes(folder / STATE)
    if hashlib.sha256(state).hexdigest() != about.get("sha256"):
        raise InputError(
            "damaged, or of another model",
            fix="fit and save again",
            file=str(folder / STATE),
            kind="changed",
        )
    params = about.get("params")
    if not isinstance(params, dict) or not set(params) <= set(cls._names()):
        raise InputError(
            f"its parameters are not those of a {cls.__name__}", fix="fit again", file=str(file)
        )
    _check_reading(file, params)
    made = cls(**params)
    try:
        made.model_ = restore(state)
    except ParameterError as error:
        raise InputError(f"{error}", fix="fit and save again", file=str(folder / STATE)) from error
    return made


def spelled_reading(params: Mapping[str, Any]) -> bytes:
    """How graphs are read, as ``reading.json`` has it."""
    return _spelled({name: params[name] for name in READING})


def reading_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """How a model's graphs are read; nothing where its folder does not say."""
    file = pathlib.Path(path) / READING_FILE
    if not file.exists():
        return {}
    about = _versioned(file)
    reading = {name: value for name, value in about.items() if name not in ("format", "hg2v")}
    if not set(reading) <= set(READING):
        raise InputError(
            "it does not say how graphs are read", fix="remove it, or save again", file=str(file)
        )
    _check_reading(file, reading)
    return reading


def place(
    path: str | os.PathLike[str], write: Callable[[pathlib.Path], None], overwrite: bool
) -> None:
    """Has ``write`` make the folder ``path``. Where an estimator was saved there before,
    ``overwrite`` replaces it."""
    folder = pathlib.Path(path)
    try:
        if not folder.is_dir() or not any(folder.iterdir()):
            write(folder)
        elif overwrite:
            _check_replaceable(folder)
            _replace(folder.resolve(), write)
        else:
            said = f"{folder}: cannot create: the folder is not empty; name a new one, or say overwrite=True"
            raise FileError(errno.EEXIST, said, os.fspath(folder))
    except HG2VError:
        raise
    except OSError as error:
        said = f"{folder}: cannot write: {error.strerror}"
        raise FileError(error.errno, said, os.fspath(folder)) from error


def _check_replaceable(folder: pathlib.Path) -> None:
    """Refuses to replace a folder that holds anything but what was saved by hg2v."""
    names = {entry.name for entry in folder.iterdir()}
    strange = sorted(names - {ESTIMATOR, STATE, READING_FILE, *_OF_THE_COMMAND})
    if strange:
        raise InputError(
            f"it holds {strange[0]!r}, which is no part of a saved model, and is not replaced",
            fix="name another folder, or move what is there",
            file=str(folder),
        )
    about = folder / (ESTIMATOR if ESTIMATOR in names else "config.json")
    # Other programs' models have a config.json, too.
    if about.name not in names or not {"format", "hg2v"} <= set(_object(about)):
        raise InputError(
            "it holds no saved model, and is not replaced",
            fix="name another folder",
            file=str(folder),
        )


def _replace(folder: pathlib.Path, write: Callable[[pathlib.Path], None]) -> None:
    """The new folder is complete before the old one goes, and both are beside it until then."""
    with tempfile.TemporaryDirectory(
        prefix=".hg2v-", dir=folder.parent, ignore_cleanup_errors=True
    ) as beside:
        new, old = pathlib.Path(beside, "new"), pathlib.Path(beside, "old")
        write(new)
        try:
            folder.rename(old)
            new.rename(folder)
        except BaseException:
            # A Ctrl-C between the two must not leave nothing.
            if old.exists() and not folder.exists():
                old.rename(folder)
            raise


def _spelled(about: Mapping[str, Any]) -> bytes:
    versioned = {"format": FORMAT, "hg2v": _hg2v.__version__, **about}
    return spelled({**versioned, "digest": _digest(versioned)}, indent=2).encode()


def _digest(about: Mapping[str, Any]) -> str:
    """The SHA-256 of what a file says, however it is spelled."""
    said = json.dumps(json.loads(spelled(about)), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _versioned(file: pathlib.Path) -> dict[str, Any]:
    about = _object(file)
    if about.get("format") != FORMAT:
        raise InputError(
            f"format {about.get('format')!r}, but this is hg2v {_hg2v.__version__}, which reads "
            f"format {FORMAT}",
            fix="update hg2v, or fit again",
            file=str(file),
            kind="version",
        )
    if about.pop("digest", None) != _digest(about):
        raise InputError(
            "it does not say what it said when it was written: it was changed or damaged",
            fix="restore it, or fit and save again",
            file=str(file),
            kind="changed",
        )
    return about


def _check_reading(file: pathlib.Path, params: Mapping[str, Any]) -> None:
    try:
        check_reading({name: params[name] for name in READING if name in params})
    except (InputError, ParameterError) as error:
        raise InputError(f"{error}", fix="fit and save again", file=str(file)) from None


def _bytes(file: pathlib.Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        said = f"{file}: cannot read: {error.strerror}; check the name"
        raise FileError(error.errno, said, os.fspath(file)) from error


def _object(file: pathlib.Path) -> dict[str, Any]:
    if file.is_file() and file.stat().st_size > _MOST_BYTES:
        raise InputError(
            f"longer than {_MOST_BYTES} bytes", fix="fit and save again", file=str(file)
        )
    try:
        read = json.loads(_bytes(file))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error})", fix="fit and save again", file=str(file)) from error
    if not isinstance(read, dict):
        raise InputError("not an object of JSON", fix="fit and save again", file=str(file))
    return read
