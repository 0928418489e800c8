"""What is said to the logger ``hg2v``: what graphs had to have resolved, and what is not used."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ._hg2v import Graphs

log = logging.getLogger("hg2v")

#: What is said of graphs that needed resolving, by the key of the notes; ``{s}`` is a plural's.
_FOUND = {
    "self_loops": "self-loop{s} left out",
    "repeated_edges": "repeated edge{s} merged",
    "conflicting_weights": "of those with another weight (the larger was kept)",
    "parallel_edges": "parallel edge{s} of another kind or direction (one where neither is seen)",
    "zero_weights": "edge{s} of weight zero left out",
    "negative_weights": "negative weight{s} made positive",
    "unseen_labels": "node{s} with labels that training never met (taken as none)",
    "unseen_edge_labels": "end{s} of edges with labels that training never met (taken as none)",
    "clipped": "attribute{s} too large after scaling, cut",
    "not_converged": "graph{s} whose eigenvectors did not converge to tolerance",
}

#: Attributes that nodes have to be told apart by, and are no features.
_NAMES_OF_NODES = ("id", "name", "_nx_name")

#: The most attributes that a notice names.
_MOST_NAMED = 6


def say(notes: str, seen: Iterable[str]) -> None:
    """Logs what graphs had to have resolved, what loses something as a warning, and what they bring
    and a model does not see; ``seen`` is what it sees."""
    said = json.loads(notes)
    unused = [name for name, there in said["brought"].items() if there and name not in seen]
    if unused:
        log.info("not used: %s", ", ".join(name.replace("_", " ") for name in unused))
    counts = {**said["found"], **said["applied"], "not_converged": said["not_converged"]}
    for key, what in _FOUND.items():
        if counts.get(key):
            loses = key in ("unseen_labels", "unseen_edge_labels", "clipped", "conflicting_weights")
            what = what.format(s=_plural(counts[key]))
            log.log(logging.WARNING if loses else logging.INFO, "%d %s", counts[key], what)


def say_odd(data: Graphs, vectors: bool, coarsened: bool) -> None:
    """Says which graphs are directed, where they are ``coarsened``, and warns of those without nodes,
    whose ``vectors`` are zero."""
    directed = len(data.directed()) if coarsened else 0
    if directed:
        log.info("%d directed graph%s coarsened as undirected", directed, _plural(directed))
    empty = int((data.num_nodes() == 0).sum())
    if empty:
        have, zero = ("has", "its vector is") if empty == 1 else ("have", "their vectors are")
        follows = f": {zero} zero" if vectors else ""
        log.warning("%d graph%s %s no nodes%s", empty, _plural(empty), have, follows)


#: How attributes are asked for.
_ADVICE = {
    "node": "name what is to be a feature: numbers with attributes=, a text with label=",
    "edge": "name what is to be seen: numbers with edge_attrs=, a text with edge_label=, and one "
    "number that is a weight with weight=",
    "graph": "call what is to be predicted `y`, or `y.NAME` where there are several",
}


def say_unused(what: str, items: Iterable[Mapping[str, Any]], used: Iterable[str]) -> None:
    """Warns of attributes of ``items``, nodes or edges, that nobody asked for."""
    kinds: dict[str, str] = {}
    for item in items:
        for name, value in item.items():
            if value is not None:
                kinds.setdefault(str(name), _kind(value))
    unused = sorted(set(kinds) - {*used, *_NAMES_OF_NODES})
    if unused:
        named = [f"{name[:40]!r} ({kinds[name]})" for name in unused[:_MOST_NAMED]]
        if len(unused) > _MOST_NAMED:
            named.append(f"{len(unused) - _MOST_NAMED} more")
        *others, last = named
        listed = f"{', '.join(others)} and {last}" if others else last
        are = "is" if len(unused) == 1 else "are"
        log.warning(
            "%s attribute%s %s %s not used; %s",
            *(what, _plural(len(unused)), listed, are, _ADVICE[what]),
        )


def say_refused(refused: Mapping[int, str], count: int, follows: str) -> None:
    """Warns of graphs that cannot be used, and of what follows for them."""
    named = [f"graph {at} ({problem})" for at, problem in islice(refused.items(), _MOST_NAMED)]
    if len(refused) > _MOST_NAMED:
        named.append(f"{len(refused) - _MOST_NAMED} more")
    log.warning(
        "%d of %d graphs cannot be used, %s: %s", *(len(refused), count), follows, "; ".join(named)
    )


@functools.cache
def say_no_tqdm() -> None:
    """Says, once a process, where progress is to be seen."""
    log.warning("verbose shows a bar by tqdm, which is not installed; progress is logged as INFO")


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def _kind(value: Any) -> str:
    """What an attribute holds, in a word."""
    if isinstance(value, str):
        return "text"
    numbers = (bool, int, float, np.number, np.bool_, list, tuple)
    if isinstance(value, numbers) or hasattr(value, "dtype"):
        return "numbers"
    return type(value).__name__
