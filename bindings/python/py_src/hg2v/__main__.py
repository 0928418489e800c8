"""``python -m hg2v`` is the command ``hg2v``."""

from ._command import main

main()
