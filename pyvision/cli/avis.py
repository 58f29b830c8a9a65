"""`pyvision avis`: record how people seek answers, learn a graph from it, and look at the paths that were taken."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pyvision.cli.flags import count
from pyvision.cli.settings import add_model, add_repeated, parse_pairs
from pyvision.errors import ConfigError


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parser = commands.add_parser("avis")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_study(parts)
    _add_induce(parts)
    _add_analyse(parts)


def study(options: argparse.Namespace) -> int:
    """Serve the page until SIGINT or SIGTERM; returns the exit code."""
    from pyvision.bench.datasets.sources import find_source
    from pyvision.experiments.avis_study.serve import Serving, Study
    from pyvision.experiments.avis_study.toolbox import find_toolbox

    source = find_source(options.dataset, count=options.count, seed=options.seed, difficulty=0.5)
    samples = tuple(source.samples(options.limit))
    if not samples:
        raise ConfigError(f"{options.dataset}: holds no question; give a data set with some")
    serving = Serving(
        log=options.log,
        samples=samples,
        host=options.host,
        port=options.port,
        everyone=options.everyone,
    )
    roles = parse_pairs(options, "--role")
    tools = parse_pairs(options, "--tool")
    toolbox = find_toolbox(options.model, options.config, roles, tools)
    with closing(toolbox), closing(Study(serving, toolbox)) as served:
        _print(served.url)
        _tell(f"the log: {options.log}", *(f"left out: {each}" for each in toolbox.unavailable))
        _tell(f"the tools: {', '.join(toolbox.tools) or 'none'}", "Ctrl-C ends it")
        with suppress(KeyboardInterrupt):
            served.wait()
    return 0


def induce(options: argparse.Namespace) -> int:
    """Write the graph and the examples, print what changed; returns the exit code."""
    from pyvision.experiments.avis_study.induction import format_induced, write_induced
    from pyvision.experiments.avis_study.induction import induce as induced_from
    from pyvision.experiments.avis_study.log import read_log
    from pyvision.experiments.avis_study.trajectories import trajectory_of
    from pyvision.strategies.avis.graph import load_graph

    records = [read_log(path) for path in options.logs]
    _tell(*(f"{path}: {each.note}" for path, each in zip(options.logs, records, strict=True) if each.note))
    trajectories = [trajectory_of(attempt) for record in records for attempt in record.attempts]
    found = induced_from(
        trajectories, threshold=options.threshold, failures=options.failures, max_examples=options.examples
    )
    paths = write_induced(found, options.out) if options.out else ()
    _print(
        "\n".join(
            [
                format_induced(found, load_graph(options.default, "--default").successors),
                *(f"written: {path}" for path in paths),
            ]
        )
    )
    return 0


def analyse(options: argparse.Namespace) -> int:
    """Print the tables and draw the pictures; returns the exit code."""
    from pyvision.experiments.avis_study.plots import draw
    from pyvision.experiments.avis_study.statistics import statistics_of, tables
    from pyvision.experiments.avis_study.trajectories import trajectories_in

    found = statistics_of(trajectories_in(options.runs))
    paths = draw(found, options.out)
    _print("\n".join([tables(found), "", *(f"drawn: {path}" for path in paths)]))
    return 0


def _add_study(parts: argparse._SubParsersAction[Any]) -> None:
    parser = parts.add_parser(
        "study",
        help="a page on which people seek the answers, and a log of it",
        description="Serves the questions of a data set on a page with the tools, and logs what people do there. "
        "Questions that the log holds an end of are not asked again.",
    )
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a file, a folder, hf:…, or a name, as `bench run` takes it")
    add("--log", type=Path, default=Path("study.jsonl"), metavar="FILE", help="(default study.jsonl)")
    add_model(parser, "who answers for the tools that ask a model")
    for flag in ("--role", "--tool"):
        add_repeated(parser, flag)
    add("--everyone", action="store_true", help="give each person every question, not a share of them")
    add("--limit", type=count, metavar="N", help="only the first N questions")
    add("--count", type=count, default=20, metavar="N", help="of a generated set (default 20)")
    add("--seed", type=int, default=0, metavar="N", help="of a generated set (default 0)")
    add("--host", default="127.0.0.1", metavar="H", help="the address to listen on (default 127.0.0.1)")
    add("--port", type=int, default=7861, metavar="N", help="(default 7861; 0 is any free one)")
    parser.set_defaults(call=study)


def _add_induce(parts: argparse._SubParsersAction[Any]) -> None:
    parser = parts.add_parser("induce", help="a transition graph and examples, out of study logs")
    add = parser.add_argument
    add("logs", nargs="+", type=Path, metavar="LOG", help="the log of a study page")
    add(
        "--threshold",
        type=count,
        default=1,
        metavar="N",
        help="edges seen less often are left out (default 1)",
    )
    add("--failures", action="store_true", help="learn also from those who did not find the answer")
    add("--examples", type=count, default=10, metavar="N", help="of each action, at most (default 10)")
    add("--default", metavar="FILE", help="the graph to compare with (default: the one that is used)")
    add("--out", type=Path, metavar="DIR", help="write graph.json, counts.json and examples/ there")
    parser.set_defaults(call=induce)


def _add_analyse(parts: argparse._SubParsersAction[Any]) -> None:
    parser = parts.add_parser("analyse", help="which tools were used when, and how it went")
    add = parser.add_argument
    add("runs", nargs="+", type=Path, metavar="RUN", help="a run folder, a folder of them, or a study log")
    add(
        "--out",
        type=Path,
        default=Path("avis-analysis"),
        metavar="DIR",
        help="where the pictures go (default: avis-analysis)",
    )
    parser.set_defaults(call=analyse)


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - what the command is for


def _tell(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201
