"""The time from `git clone` to the first answer with an empty cache of packages, and how much that downloads.

`make` runs `make run`; `pip` follows the README: an environment, `pip install .`, and a question. Bytes are those that
pip logs; what it finds on this machine does not count (`env -u PIP_FIND_LINKS PIP_CONFIG_FILE=/dev/null` prevents it).
Not for machines with uv.
Run: python -m benchmarks.first_answer [--commit COMMIT] [--way make|pip]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

_MB = 1_000_000
_DOWNLOAD = re.compile(r"Downloading \S+ \(([\d.]+) (bytes|[kMG]B)\)")
_UNITS = {"bytes": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_WAYS: Mapping[str, str] = {
    "make": "make run",
    "pip": "python3 -m venv .venv && . .venv/bin/activate && pip install --quiet . "
    "&& pyvision run --image examples/circles.png --question 'How many circles are in the image?'",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_answer", description=__doc__)
    parser.add_argument("--commit", default="HEAD", help="what to measure (default: HEAD)")
    parser.add_argument("--way", choices=sorted(_WAYS), default="make", help="how to install (default: make)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-answer-") as folder:
        _measure(options.commit, options.way, Path(folder))
    return 0


def _measure(commit: str, way: str, folder: Path) -> None:
    checkout, log = folder / "pyvision", folder / "pip.log"
    start = time.monotonic()
    subprocess.run(["git", "clone", "--quiet", "--no-local", Path.cwd(), checkout], check=True)
    subprocess.run(["git", "checkout", "--quiet", _commit(commit)], cwd=checkout, check=True)
    cloned = time.monotonic()
    command = ["bash", "-c", _WAYS[way]]
    answer = subprocess.run(
        command, cwd=checkout, env=_environment(folder), stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()[-1]
    end = time.monotonic()
    print(f"answer      {answer}")
    print(f"seconds     {end - start:.0f}, of which cloning {cloned - start:.1f}")
    print(f"cloned      {_size(checkout / '.git') / _MB:.0f} MB")
    print(f"downloaded  {downloaded_bytes(log) / _MB:.0f} MB of packages")
    print(f"packages    {_packages(checkout / '.venv/bin/python')}")
    print(f"installed   {_size(checkout / '.venv') / _MB:.0f} MB")


def _commit(name: str) -> str:
    found = subprocess.run(["git", "rev-parse", name], stdout=subprocess.PIPE, text=True, check=True)
    return found.stdout.strip()


def _environment(folder: Path) -> dict[str, str]:
    """This environment with an empty cache, without the keys of a model and without this checkout's modules."""
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"PIP_CACHE_DIR": str(folder / "cache"), "PIP_LOG": str(folder / "pip.log")}


def downloaded_bytes(log: Path) -> float:
    """The sum of what a log of pip says that it downloaded, to its three digits."""
    found = _DOWNLOAD.findall(log.read_text(encoding="utf-8"))
    return sum(float(number) * _UNITS[unit] for number, unit in found)


def _packages(python: Path) -> int:
    program = "import importlib.metadata as m; print(len({d.name for d in m.distributions()}))"
    return int(subprocess.run([python, "-c", program], stdout=subprocess.PIPE, check=True).stdout)


def _size(folder: Path) -> int:
    files = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return sum(file.lstat().st_size for file in files)


if __name__ == "__main__":
    sys.exit(main())
