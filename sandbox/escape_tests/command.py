"""`python -m sandbox check`: try every attack on this machine, and print whether it was contained."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from sandbox.errors import SandboxError
from sandbox.escape_tests.attacks import Attack, attacks
from sandbox.escape_tests.runner import AttackResult, Runner, Verdicts, run_in_background
from sandbox.policy import Layer, Policy
from sandbox.sandbox import Sandbox

_GRACE_S = 0.5
_STARTS = 5
_LANES = 3
_WIDTH = 80
_LAYER_WIDTH = 11
_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument(
        "--topic",
        metavar="NAME",
        help="run only the attacks of one topic; see sandbox/escape_tests/programs/",
    )
    parser.add_argument(
        "--isolation",
        choices=("auto", "bwrap", "landlock"),
        default="auto",
        help="the tier of isolation to check (default: the strongest that works)",
    )


def check(options: argparse.Namespace) -> int:
    """Run the check. 0: all contained, 1: an attack escaped, 2: wrong usage, 5: no isolation on this machine."""
    chosen = [attack for attack in attacks() if options.topic in (None, attack.topic)]
    if not chosen:
        topics = ", ".join(sorted({attack.topic for attack in attacks()}))
        return _fail(f"there is no topic {options.topic!r}; there are {topics}", 2)
    try:
        with Sandbox(Policy(isolation=options.isolation, interrupt_grace_s=_GRACE_S)) as sandbox:
            layers, starts = sandbox.layers(), start_times_ms(sandbox)
            started = time.monotonic()
            verdicts = try_all(chosen, sandbox, coloured=None if options.json else sys.stdout.isatty())
            seconds = time.monotonic() - started
    except SandboxError as error:
        return _fail(str(error), 5)
    if options.json:
        print(json.dumps(_build_report(layers, starts, verdicts), indent=1))  # noqa: T201 - a command
    else:
        print("\n".join([*layer_lines(layers), *summary_lines(starts, verdicts, seconds)]))  # noqa: T201
    return 0 if all(verdict.contained for verdict in verdicts) else 1


def start_times_ms(sandbox: Sandbox) -> tuple[float, float]:
    """The time to open a session: of the first one, and the median of the next ones."""
    taken = []
    for _ in range(_STARTS + 1):
        started = time.monotonic()
        session = sandbox.open()
        taken.append((time.monotonic() - started) * 1000)
        session.close()
    return taken[0], statistics.median(taken[1:])


def try_all(chosen: Sequence[Attack], sandbox: Sandbox, *, coloured: bool | None) -> list[AttackResult]:
    """Every verdict; prints a line for each as it arrives unless `coloured` is None. Raises SandboxError."""
    verdicts: list[AttackResult] = []
    for verdict in _verdicts(chosen, sandbox):
        verdicts.append(verdict)
        if coloured is None:
            continue
        if len(verdicts) == 1 or verdicts[-2].attack.topic != verdict.attack.topic:
            print(heading(verdict.attack.topic), flush=True)  # noqa: T201
        print(verdict_line(verdict, coloured=coloured), flush=True)  # noqa: T201
    return verdicts


def _verdicts(chosen: Sequence[Attack], sandbox: Sandbox) -> Iterator[AttackResult]:
    """Run several attacks at once, since most of their time is waiting; those that flood the host run last, alone."""
    floods = [attack for attack in chosen if attack.proof == "neighbour"]
    others = [attack for attack in chosen if attack.proof != "neighbour"]
    for part, lanes in ((others, _LANES), (floods, 1)):
        with ExitStack() as stack:
            futures: Verdicts = {}
            for lane in range(lanes):
                runner = Runner(sandbox.open, _GRACE_S)
                futures |= stack.enter_context(run_in_background(runner, part[lane::lanes]))
            for attack in part:
                yield futures[attack.id].result()


def _build_report(
    layers: Sequence[Layer], starts: tuple[float, float], verdicts: Sequence[AttackResult]
) -> dict[str, Any]:
    return {
        "contained": sum(verdict.contained for verdict in verdicts),
        "escaped": [verdict.attack.id for verdict in verdicts if not verdict.contained],
        "layers": [{"name": each.name, "present": each.is_present, "detail": each.detail} for each in layers],
        "first_start_ms": round(starts[0], 1),
        "start_ms": round(starts[1], 1),
        "attacks": [
            {
                "topic": verdict.attack.topic,
                "name": verdict.attack.name,
                "tries": verdict.attack.tries,
                "layer": verdict.attack.layer,
                "contained": verdict.contained,
                "evidence": verdict.evidence,
                "seconds": round(verdict.seconds, 3),
            }
            for verdict in verdicts
        ],
    }


def _fail(why: str, code: int) -> int:
    print(f"sandbox check: {why}", file=sys.stderr)  # noqa: T201
    return code


def heading(topic: str) -> str:
    """Above the attacks of a topic."""
    return f"\n{topic}"


def verdict_line(verdict: AttackResult, *, coloured: bool) -> str:
    """What was tried, and which layer was to contain it; when it did not, what got out."""
    tries, layer = verdict.attack.tries.rstrip("."), verdict.attack.layer
    word = "contained" if verdict.contained else "GOT OUT"
    width = _WIDTH - 2 - len("contained") - 1 - _LAYER_WIDTH - 1
    summary = textwrap.shorten(tries, width, placeholder=" …").ljust(width)
    colour = (_GREEN if verdict.contained else _RED) if coloured else ""
    line = f"  {summary} {layer.ljust(_LAYER_WIDTH)} {colour}{word}{_PLAIN if coloured else ''}"
    return (
        line if verdict.contained else f"{line}\n    {_short(f'{verdict.attack.id}: {verdict.evidence}', 4)}"
    )


def layer_lines(layers: Sequence[Layer]) -> Iterator[str]:
    """What this machine offers."""
    yield "\nlayers"
    for layer in layers:
        label = f"  {layer.name.ljust(15)}{'yes' if layer.is_present else 'NO '}  "
        yield textwrap.fill(layer.detail, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label))


def summary_lines(
    starts_ms: tuple[float, float], verdicts: Sequence[AttackResult], seconds: float
) -> Iterator[str]:
    """How many got out, and how long a session takes to start. seconds: of all attacks, which overlap in time."""
    escaped = [verdict.attack.id for verdict in verdicts if not verdict.contained]
    yield f"\nstart: {starts_ms[0]:.0f} ms the first session, {starts_ms[1]:.0f} ms each further one"
    if escaped:
        yield f"{len(escaped)} of {len(verdicts)} attacks got out: {', '.join(escaped)}"
    else:
        yield f"all {len(verdicts)} attacks were contained, in {seconds:.0f} s"


def _short(text: str, indent: int) -> str:
    return textwrap.shorten(text, _WIDTH - indent, placeholder=" …")
