"""`pyvision avis`: record how people find answers, learn a transition graph from it, and analyse what they did."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pyvision.cli.flags import add_commands, add_model, add_part, add_repeated, count, parse_pairs, port
from pyvision.errors import ConfigError


def add_avis(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the commands and their flags."""
    parts = add_commands(commands, "avis")
    _add_study(parts)
    _add_induce(parts)
    _add_analyse(parts)


def study(options: argparse.Namespace) -> int:
    """Serve the page until SIGINT or SIGTERM; returns the exit code."""
    from pyvision.bench.datasets.sources import find_source
    from pyvision.experiments.avis_study.serve import Study, StudyOptions
    from pyvision.experiments.avis_study.toolbox import find_toolbox

    source = find_source(options.dataset, count=options.count, seed=options.seed, difficulty=0.5)
    samples = tuple(source.samples(options.limit))
    if not samples:
        raise ConfigError(f"{options.dataset}: has no questions; choose another dataset")
    serving = StudyOptions(
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
        _print_progress(
            f"the log: {options.log}", *(f"not available: {each}" for each in toolbox.unavailable)
        )
        _print_progress(f"the tools: {', '.join(toolbox.tools) or 'none'}", "press Ctrl-C to stop")
        with suppress(KeyboardInterrupt):
            served.wait()
    return 0


def induce(options: argparse.Namespace) -> int:
    """Write the graph and the examples, and print what changed; returns the exit code."""
    from pyvision.experiments.avis_study.induction import format_induced, write_induced
    from pyvision.experiments.avis_study.induction import induce as induced_from
    from pyvision.experiments.avis_study.log import read_log
    from pyvision.experiments.avis_study.trajectories import trajectory_of
    from pyvision.strategies.avis.transition_graph import load_graph

    records = [read_log(path) for path in options.logs]
    _print_progress(
        *(f"{path}: {each.note}" for path, each in zip(options.logs, records, strict=True) if each.note)
    )
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
    """Print the tables and draw the plots; returns the exit code."""
    from pyvision.experiments.avis_study.plots import draw
    from pyvision.experiments.avis_study.statistics import statistics_of, tables
    from pyvision.experiments.avis_study.trajectories import trajectories_in

    found = statistics_of(trajectories_in(options.runs))
    paths = draw(found, options.out)
    _print("\n".join([tables(found), "", *(f"plot: {path}" for path in paths)]))
    return 0


def _add_study(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(
        parts,
        "study",
        "serve a page on which people answer questions with the tools, and log what they do",
        study,
        "Questions that the log already covers are not asked again.",
    )
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a file, folder, hf:… or name, as for `bench run`")
    add("--log", type=Path, default=Path("study.jsonl"), metavar="FILE", help="the log (default study.jsonl)")
    add_model(parser, "the model for tools that need one")
    for flag in ("--role", "--tool"):
        add_repeated(parser, flag)
    add("--everyone", action="store_true", help="ask each person every question instead of a share")
    add("--limit", type=count, metavar="N", help="only the first N questions")
    add("--count", type=count, default=20, metavar="N", help="samples of a generated set (default 20)")
    add("--seed", type=int, default=0, metavar="N", help="seed of a generated set (default 0)")
    add("--host", default="127.0.0.1", metavar="H", help="the address to listen on (default 127.0.0.1)")
    add("--port", type=port, default=7861, metavar="N", help="the port (default 7861; 0 for any free port)")


def _add_induce(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "induce", "learn a transition graph and examples from study logs", induce)
    add = parser.add_argument
    add("logs", nargs="+", type=Path, metavar="LOG", help="a log of `avis study`")
    add(
        "--threshold",
        type=count,
        default=1,
        metavar="N",
        help="ignore edges that occur less often (default 1)",
    )
    add("--failures", action="store_true", help="also learn from attempts that did not find the answer")
    add(
        "--examples",
        type=count,
        default=10,
        metavar="N",
        help="maximum number of examples per action (default 10)",
    )
    add("--default", metavar="FILE", help="the graph to compare with (default: the built-in one)")
    add("--out", type=Path, metavar="DIR", help="write graph.json, counts.json and examples/ to this folder")


def _add_analyse(parts: argparse._SubParsersAction[Any]) -> None:
    parser = add_part(parts, "analyse", "show which tools were used when, and with what success", analyse)
    add = parser.add_argument
    add(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="a run folder, a folder of run folders, or a study log",
    )
    add(
        "--out",
        type=Path,
        default=Path("avis-analysis"),
        metavar="DIR",
        help="the folder for the plots (default: avis-analysis)",
    )


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the result


def _print_progress(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201
