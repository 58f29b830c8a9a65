"""`pyvision bench grade`: score the answers of a run once more; nothing is asked of the model again."""

from __future__ import annotations

import argparse
from pathlib import Path

from pyvision.cli.flags import Deprecated, count, share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of an experiment")
    parser.add_argument(
        "--metric", metavar="NAME[:FLAVOUR]", help="becomes the one that reports use (default: as before)"
    )
    add_judge(parser)
    parser.add_argument(
        "--workers", type=count, default=4, metavar="K", help="answers judged at once (default 4)"
    )
    add_max_unscored_ratio(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_judge(parser: argparse.ArgumentParser) -> None:
    """Declare the judge's flag."""
    parser.add_argument(
        "--judge",
        metavar="MODEL",
        help="a model (as --model takes it, or FILE.json) that is asked where the rules find nothing",
    )


def add_max_unscored_ratio(parser: argparse.ArgumentParser) -> None:
    """Declare the flag by which too many samples without a score are a failure."""
    parser.add_argument(
        "--max-unscored-ratio", type=share, default=0.05, metavar="X", help="exit 3 above it (default 0.05)"
    )
    parser.add_argument("--most-unscored", action=Deprecated, new="--max-unscored-ratio", type=share)


def run(options: argparse.Namespace) -> int:
    """Grade, keep the scores, print what came of it; returns the exit code."""
    from pyvision.bench.regrading import judge_run, open_judge, regrade
    from pyvision.bench.runner.progress import counting
    from pyvision.cli.bench.result import exit_code, print_result

    if options.judge:
        with open_judge(options.judge) as judge:
            watch = counting("judged")
            judge_run(options.folder, options.metric, judge, workers=options.workers, watch=watch)
    else:
        regrade(options.folder, options.metric)
    found = print_result(options.folder, as_json=options.json)
    return exit_code(found, options.max_unscored_ratio)
