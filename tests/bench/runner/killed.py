"""A run in a process of its own, for tests that end it: `python -m tests.bench.runner.killed DIR COUNT`."""

from __future__ import annotations

import sys
from pathlib import Path

from pyvision.bench.runner import run
from pyvision.errors import PyVisionError
from tests.bench.runs import Knowing, Quiet, a_plan, made


def main(folder: str, count: str) -> int:
    """2 for an error of ours, as the command line has it."""
    try:
        run.run(a_plan(Path(folder), made(int(count)), Knowing({7: "\\boxed{C}"}), workers=3), Quiet())
    except PyVisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
