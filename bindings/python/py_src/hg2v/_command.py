"""The command ``hg2v``, as the wheel brings it: the one of Rust, in this process."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from . import _hg2v


def main() -> NoReturn:
    """Runs the command with this process' arguments, and ends the process with its exit code."""
    # The command listens for Ctrl-C itself; where it is to be ignored, nothing was set.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Streams that are closed would be the next files that are opened.
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    again = [sys.executable, *sys.orig_argv[1:]]
    sys.exit(_hg2v.command(["hg2v", *sys.argv[1:]], again))
