"""Feed the readers of a host random and broken input, and print what became of it.

python -m benchmarks.fuzz [TARGET …] [--inputs 10000] [--seed 0] [--corpus FOLDER]

An input fails if an exception escapes, or if it takes more than 100 ms of processor time; a run fails too if the
process grows by more than 64 MiB. Failing inputs are kept in the corpus, which a test replays. Exit status: 1 if
anything failed. Not covered: what only happens after a certain series of inputs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.campaign import Report, Target, fuzz
from benchmarks.fuzz.channels import MESSAGES, ZMTP, ZYGOTE
from benchmarks.fuzz.images import HEADERS, VALUES

TARGETS: dict[str, Target] = {target.name: target for target in (ZMTP, MESSAGES, HEADERS, VALUES, ZYGOTE)}
CORPUS = Path(__file__).parents[2] / "tests" / "sandbox" / "corpus"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the chosen targets, all by default, one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--inputs", type=int, default=10_000, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="the same inputs for the same number")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where failing inputs are kept")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    chosen = options.targets or list(TARGETS)
    print(f"{'target':<12}{'inputs':>10}{'per second':>12}{'slowest':>10}{'growth':>10}  failures")
    reports = [_report(TARGETS[name], options) for name in chosen]
    return 0 if all(report.passed for report in reports) else 1


def _report(target: Target, options: argparse.Namespace) -> Report:
    report = fuzz(target, options.inputs, options.seed)
    print(
        f"{target.name:<12}{report.inputs:>10,}{report.inputs / report.seconds:>12,.0f}"
        f"{report.slowest_s * 1000:>7.1f} ms{report.growth_mib:>6.1f} MiB  {len(report.failures)}",
        flush=True,
    )
    for failure in report.failures:
        path = failure.keep(options.corpus / target.name)
        print(f"  {failure.reason}: {path}", flush=True)
    return report


if __name__ == "__main__":
    sys.exit(main())
