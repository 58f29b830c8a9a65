"""Feed random and broken input to the host-side parsers, and print the results.

python -m benchmarks.fuzz [TARGET …] [--inputs 10000] [--seed 0] [--corpus FOLDER]

An input fails if an exception escapes, or if it takes more than 100 ms of CPU time; a run also fails if the process
grows by more than 64 MiB. Failing inputs are saved to the corpus, which a test replays. The exit status is 1 after any
failure. Not covered: errors that depend on a certain sequence of inputs.
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
    """Fuzz the given targets, by default all, one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(TARGETS)}")
    parser.add_argument("--inputs", type=int, default=10_000, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same inputs")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where failing inputs are saved")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"unknown target {', '.join(unknown)}; the targets are {', '.join(TARGETS)}")
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
        path = failure.save(options.corpus / target.name)
        print(f"  {failure.reason}: {path}", flush=True)
    return report


if __name__ == "__main__":
    sys.exit(main())
