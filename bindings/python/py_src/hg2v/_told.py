"""The command in a process of its own, for what wants one: what it tells with ``--json``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

from .errors import HG2VError, InputError, ParameterError


def told(*words: str, verbose: bool = False) -> dict[str, Any]:
    """What ``hg2v WORDS --json`` tells; where it failed whole, the exception for that.

    With ``verbose`` it says on standard error how far it is. Whatever stops the wait stops the command.
    """
    quiet = [] if verbose else ["--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hg2v", *words, "--json", *quiet],
        stdout=subprocess.PIPE,
        stderr=None if verbose else subprocess.DEVNULL,
        text=True,
    )
    try:
        said, _ = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    try:
        found: dict[str, Any] = json.loads(said)
    except ValueError:
        raise HG2VError(
            f"`hg2v {words[0]}` ended with {process.returncode}, and why it did not say"
        ) from None
    # Some of it may be there beside what failed.
    if "error" in found and "command" not in found:
        raise _raised(found["error"])
    return found


def _raised(error: dict[str, Any]) -> HG2VError:
    kinds = {"usage": ParameterError, "input": InputError}
    return kinds.get(error["kind"], HG2VError)(error["message"])
