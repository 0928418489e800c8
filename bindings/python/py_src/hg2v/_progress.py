"""How far long work is: a bar of tqdm, or lines of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._notices import log, say_no_tqdm


@contextmanager
def progress(verbose: bool | int) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar of tqdm where ``verbose`` asks for it, lines of the log where there is no tqdm."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        say_no_tqdm()
        yield lambda stage, done, total: log.info("%s: %d of %d", stage, done, total)
        return
    with tqdm(leave=False) as bar:

        def show(stage: str, done: int, total: int) -> None:
            if bar.desc != f"{stage}: ":
                bar.reset()
                bar.set_description(stage, refresh=False)
            bar.total = total
            bar.n = done
            bar.refresh()

        yield show
