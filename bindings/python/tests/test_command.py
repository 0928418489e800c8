"""The command that the wheel brings: to the byte what the binary says, and its exit codes."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import hg2v
from shared import ROOT

SCRIPT = pathlib.Path(sys.executable).parent / "hg2v"


@pytest.fixture(scope="module")
def binary():
    path = pathlib.Path(os.environ.get("HG2V_COMMAND", ROOT / "target" / "release" / "hg2v"))
    if not path.exists():
        pytest.fail(f"{path} is missing: build it with `make built`")
    return [str(path)]


OURS = {"script": [str(SCRIPT)], "module": [sys.executable, "-m", "hg2v"]}


@pytest.fixture(params=OURS)
def ours(request):
    return OURS[request.param]


@pytest.fixture(scope="module")
def place(arrays, model, tmp_path_factory):
    """A folder with graphs and a model."""
    at = tmp_path_factory.mktemp("command")
    hg2v.graphs(arrays).write(at / "graphs.jsonl")
    model.save(at / "model")
    return at


def said(program, line, at, **more):
    done = subprocess.run([*program, *line.split()], cwd=at, capture_output=True, **more)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "--version",
        "--help",
        "fit --help",
        "info graphs.jsonl",
        "embed model graphs.jsonl --out - -q",
        "search model 3 --data graphs.jsonl",
        "search model --duplicates --outliers 3 --data graphs.jsonl --metric cosine",
        "project model --data graphs.jsonl --out -",
        "convert graphs.jsonl -",
        "completions bash",
        "",
        "nonsense",
        "fit graphs.jsonl --out x --dim many",
        "fit graphs.jsonl --out x --dim many --json",
        "info absent.jsonl",
        "info absent.jsonl --json",
        "fit graphs.jsonl --out x --device cuda:99",
    ],
)
def test_it_says_what_the_binary_says(line, binary, ours, place):
    assert said(ours, line, place) == said(binary, line, place)


def test_codes(ours, place):
    assert said(ours, "--version", place)[0] == 0
    assert said(ours, "fit graphs.jsonl --out x --device cuda:99", place)[0] == 1
    assert said(ours, "info absent.jsonl", place)[0] == 2


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_as_they_end_the_binary(number, code, binary, ours, place, tmp_path):
    for program in (binary, ours):
        line = f"fit {place}/graphs.jsonl --epochs 1000000 --out long"
        running = subprocess.Popen(
            [*program, *line.split()], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        # The folder stands from the moment on that a training can be gone on with.
        while running.poll() is None and not (tmp_path / "long" / "config.json").exists():
            time.sleep(0.01)
        running.send_signal(number)
        _, err = running.communicate(timeout=60)
        assert running.returncode == code, err
        assert "Traceback" not in err and "--resume" in err, err
        for file in (tmp_path / "long").iterdir():
            file.unlink()
        (tmp_path / "long").rmdir()


@pytest.mark.skipif(os.name != "posix", reason="shells are POSIX's")
def test_a_reader_that_has_enough_is_no_error(binary, ours, place):
    for program in (binary, ours):
        embed = f"{' '.join(program)} embed model graphs.jsonl -q --out -"
        early = f"{embed} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", early], cwd=place, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("0\n", ""), program


@pytest.mark.skipif(sys.platform != "linux", reason="what is open is told by Linux")
def test_no_file_takes_the_place_of_a_stream_that_is_closed():
    code = """
import os, types
import hg2v._command as command
def opened(words, again):
    return 40 + sum(os.readlink(f"/proc/self/fd/{stream}") == "/dev/null" for stream in range(3))
command._hg2v = types.SimpleNamespace(command=opened)
command.main()
"""
    done = subprocess.run(["bash", "-c", '"$0" -c "$1" >&- 2>&- <&-', sys.executable, code])
    assert done.returncode == 43


def test_a_comparison_runs_its_methods_in_processes_of_their_own(ours, place, tmp_path):
    """Beside a folder of the same name, which is no part of the wheel."""
    (tmp_path / "hg2v").mkdir()
    line = f"compare {place}/graphs.jsonl --methods statistics,wl-subtree --splits 2"
    code, out, err = said(ours, line, tmp_path)
    assert code == 0, err
    assert b"statistics" in out and b"wl-subtree" in out
