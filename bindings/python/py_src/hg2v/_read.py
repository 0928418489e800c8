"""A collection as it was read: the graphs, and those that cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ._hg2v import Graphs
from .errors import InputError


@dataclass(frozen=True)
class Read:
    """The graphs that can be used, in order, and why the others cannot, by their positions in
    what was given."""

    graphs: Graphs
    refused: Mapping[int, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many were given."""
        return len(self.graphs) + len(self.refused)

    def kept(self) -> list[int]:
        """Where the graphs that can be used stood."""
        return [at for at in range(self.count) if at not in self.refused]

    def without(self, unusable: Iterable[tuple[int, str]]) -> Read:
        """The same without some of the graphs: those at these positions among :attr:`graphs`."""
        why = dict(unusable)
        if not why:
            return self
        kept = self.kept()
        left = [at for at in range(len(self.graphs)) if at not in why]
        refused = {**self.refused, **{kept[at]: problem for at, problem in why.items()}}
        return Read(self.graphs.take(left), dict(sorted(refused.items())))

    def spread(self, rows: np.ndarray) -> np.ndarray:
        """A row for each graph that was given: of NaN where it cannot be used."""
        if not self.refused:
            return rows
        all_rows = np.full((self.count, rows.shape[1]), np.nan, rows.dtype)
        all_rows[self.kept()] = rows
        return all_rows

    def check_any(self) -> None:
        """Refuses a collection of which no graph can be used."""
        if len(self.graphs):
            return
        if not self.refused:
            raise InputError("there are no graphs", fix="give at least one", kind="no-graphs")
        at, problem = next(iter(self.refused.items()))
        raise InputError(
            f"none of the {self.count} graphs can be used; graph {at}: {problem}",
            kind="none-usable",
        )


def joined(parts: Iterable[Read]) -> Read:
    """Collections one after the other."""
    made = list(parts)
    refused: dict[int, str] = {}
    past = 0
    for part in made:
        refused.update({past + at: problem for at, problem in part.refused.items()})
        past += part.count
    return Read(Graphs.concat([part.graphs for part in made]), refused)
