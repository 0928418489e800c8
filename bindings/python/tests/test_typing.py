"""What a type checker knows: the words that parameters take, and what comes back."""

import inspect
import pathlib
import re
import subprocess
import sys
import typing

import pytest

import hg2v
from hg2v import _hg2v, _methods, _words, engines
from hg2v.errors import ParameterError

HERE = pathlib.Path(__file__).resolve().parent

#: Whatever takes words, by the name of the table where a parameter has another.
TAKING_WORDS = [
    *((kind.__init__, {}) for kind in set(_methods.METHODS.values())),
    *((kind.__init__, {}) for kind in (hg2v.WLSubtree, hg2v.WLOptimalAssignment)),
    *((kind.__init__, {}) for kind in (hg2v.WassersteinWL, hg2v.Index)),
    *((function, {}) for function in (hg2v.coarsen, hg2v.graphs, hg2v.evaluate, hg2v.report)),
    *((function, {}) for function in (hg2v.drift, hg2v.embed_file)),
    *(
        (function, {})
        for function in (hg2v.embed_arrow, hg2v.embed_batches, engines.Embed.__init__)
    ),
    (hg2v.project, {"method": "projections"}),
]

#: Words that are Python's alone, and checked as they stand in the types.
OF_PYTHON = {"errors", "directed", "index", "kernel"}


def words_in(hint):
    """The words of a type, of a list of them, or of either."""
    if typing.get_origin(hint) is typing.Literal:
        return {*typing.get_args(hint)}
    return set().union(*(words_in(inner) for inner in typing.get_args(hint)))


@pytest.mark.parametrize(
    "function, named", TAKING_WORDS, ids=lambda it: getattr(it, "__qualname__", "")
)
def test_types_are_the_library_s_words(function, named):
    hints = typing.get_type_hints(function)
    known = dict(_hg2v.words())
    for name in inspect.signature(function).parameters:
        table = named.get(name, name)
        # What takes numbers is another parameter of the same name.
        if name in hints and table in known and hints[name] is not float:
            assert words_in(hints[name]) == set(known[table]), name
        elif words_in(hints.get(name, int)):
            assert name in OF_PYTHON, name
    assert any(words_in(hint) for hint in hints.values())


def test_methods_are_those_of_the_registry():
    """All methods that learn vectors have an estimator, and no others."""
    with pytest.raises(ParameterError) as refused:
        _hg2v.places_of("majority")
    learning = refused.value.requirement.split("these do: ")[1].split(", ")
    assert set(learning) == set(_methods.METHODS)
    assert set(typing.get_args(_words.Kernel)) == set(hg2v.KernelVectors._methods)


@pytest.fixture(scope="module")
def checked():
    """What mypy says of the two files, strictly."""
    pytest.importorskip("mypy")
    files = [HERE / "typed" / "right.py", HERE / "typed" / "wrong.py"]
    asked = ["--strict", "--no-error-summary", "--hide-error-context", "--ignore-missing-imports"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *asked, "--cache-dir", "/dev/null", *files],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(HERE.parent / "py_src")},
    )
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def test_what_is_right_passes(checked):
    assert [line for line in checked if "right.py" in line] == []


def test_what_is_wrong_fails_where_it_is(checked):
    """Each line that is marked fails for what is marked, and no other."""
    wrong = (HERE / "typed" / "wrong.py").read_text().splitlines()
    marks = {at: line.split("# E: ")[1] for at, line in enumerate(wrong, 1) if "# E: " in line}
    said = {}
    for line in checked:
        found = re.search(r"wrong\.py:(\d+): error: (.*)", line)
        if found:
            said.setdefault(int(found[1]), []).append(found[2])
    assert said.keys() == marks.keys() and len(marks) > 5
    for at, mark in marks.items():
        assert any(mark in message for message in said[at]), said[at]
