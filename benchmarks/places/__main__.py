"""Emulate the places where PyVision has to run, ask a question in each, and attack the sandbox there.

    python -m benchmarks.places [--only WORD] [--json] [--topics environment,memory,network]

A place is a command that changes what this machine offers and then runs another command. For each: the tier of
isolation that was chosen, whether a question was answered, and how many attacks were contained. The
exit status is 1 if a place has another tier than expected, does not answer, or contains fewer attacks than all.
Most places need root; where an ordinary user (1001) cannot read the interpreter, theirs are left out with that reason.
Other versions of Linux run in a virtual machine, where qemu is installed (`kernels`).
Not covered: other architectures.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.conformance.sources import GITHUB, SourceError, Sources
from benchmarks.places import profiles
from benchmarks.places.emulated import PLACES
from benchmarks.places.kernels import CACHE
from benchmarks.places.visits import Outcome, format_table, visit


def main(arguments: Sequence[str] | None = None) -> int:
    """Visit the places one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.places", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="places with this word in their name")
    parser.add_argument("--topics", default="environment,memory,network", help="the attacks to try")
    parser.add_argument("--json", action="store_true", help="print one JSON object per place")
    parser.add_argument("--sources", default=GITHUB, help="address of repositories, with {owner} and {name}")
    parser.add_argument("--profile", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--capabilities", default="", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.profile:
        held = [f"CAP_{name.upper()}" for name in options.capabilities.split(",")]
        profiles.enter(options.profile, held, options.command)
    try:
        profiles.write_profiles(CACHE, Sources(CACHE, options.sources))
    except SourceError as error:
        print(f"Docker's profile cannot be had: {error}", file=sys.stderr)
    outcomes = _visit_all(options.only, options.topics.split(","), as_json=options.json)
    if not options.json:
        print(format_table(outcomes))
    return 0 if all(each.is_good for each in outcomes) else 1


def _visit_all(only: str, topics: Sequence[str], *, as_json: bool) -> list[Outcome]:
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="places-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        for place in PLACES:
            if only in place.name:
                print(f"{place.name} …", file=sys.stderr)
                outcomes.append(visit(place, topics, Path(folder)))
                if as_json:
                    print(json.dumps(asdict(outcomes[-1])), flush=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
