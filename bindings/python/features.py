"""Which crates building the wheel would build a second time, after the tests have built theirs.

    python3 features.py

Cargo builds a crate once for each set of features it is asked for. Features that tests and the
command bring in, and the wheel does not, are named in the workspace's manifest and again in the
wheel's; this lists what is missing there. It asks cargo for its plan, which is no stable feature.
"""

from __future__ import annotations

import json
import os
import subprocess


def plan(*args: str) -> dict[tuple[str, ...], list[str]]:
    """The features of every crate, by its name, what is built of it, and with which profile."""
    done = subprocess.run(
        ["cargo", *args, "--release", "-Z", "unstable-options", "--unit-graph"],
        capture_output=True,
        check=True,
        env={**os.environ, "RUSTC_BOOTSTRAP": "1"},
    )
    units = json.loads(done.stdout)["units"]
    return {
        (u["pkg_id"], u["target"]["name"], u["mode"], json.dumps([u["profile"], u["features"]])): u[
            "features"
        ]
        for u in units
    }


def main() -> None:
    tests = plan("test", "--workspace", "--no-run")
    known = {key[:2] for key in tests}
    for key, features in plan("build", "-p", "hg2v-python").items():
        if key not in tests and key[:2] in known:
            others = [other for found, other in tests.items() if found[:3] == key[:3]]
            print(f"{key[0].rpartition('#')[2]}: the wheel has {features}, tests have {others}")


if __name__ == "__main__":
    main()
