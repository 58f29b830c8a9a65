"""Generated conversations over every wire and protocol, against servers as strict as the real ones.

python -m benchmarks.conversations [--count 1000] [--same 300] [--turns 20] [--seed 0] [--at-once 4] [--wire NAME]

Each conversation has one to four turns, with parallel calls, malformed arguments, unknown tools, calls that are cut,
code in the text, sealed reasoning, a busy endpoint, and figures with a numeral that the model behind the server has to
read from the request. Printed for each wire and protocol: how many requests were rejected, how many figures were never
sent, how many answers were wrong. Then, for each wire, `--same` scripted questions over text and tools: whether cells,
figures, answers and turns are the same. Then, for one conversation of `--turns` turns of each: whether every request
begins with the one before to the byte, and its tokens, at four characters each and a hundred for a picture. The exit
status is 1 if anything is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

from pyvision.events import ImageDefined, ModelCall
from pyvision.strategies.code_loop.protocol import ProtocolChoice
from tests.servers.conversation import Request, WireName
from tests.servers.conversations import CONVERSATIONS, Played, Plot, play

_PROTOCOLS: tuple[ProtocolChoice, ...] = ("text", "tools")
_MOST_PLAIN_CHARS = 300
_FIELDS = {
    "completions": "messages",
    "responses": "input",
    "messages": "messages",
    "gemini": "contents",
    "interactions": "input",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conversations")
    parser.add_argument("--count", type=int, default=1000, help="conversations for each wire and protocol")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--same", type=int, default=300, help="questions over text and tools for each wire")
    parser.add_argument(
        "--turns", type=int, default=20, help="of the conversations whose prefixes are compared"
    )
    parser.add_argument("--wire", choices=CONVERSATIONS)
    options = parser.parse_args(arguments)
    wires: tuple[WireName, ...] = (options.wire,) if options.wire else CONVERSATIONS
    cases = [(wire, protocol) for wire in wires for protocol in _PROTOCOLS]
    wrong = sum(_play_many(wire, protocol, options) for wire, protocol in cases)
    unequal = sum(_compare_protocols(wire, options) for wire in wires)
    broken = sum(_compare_prefixes(wire, protocol, options.turns) for wire, protocol in cases)
    return 1 if wrong or unequal or broken else 0


def _play_many(wire: WireName, protocol: ProtocolChoice, options: argparse.Namespace) -> int:
    seeds = range(options.seed, options.seed + options.count)
    with ThreadPoolExecutor(options.at_once) as threads:
        played = list(threads.map(lambda seed: play(Plot.drawn(seed), wire, protocol), seeds))
    faults = [(seed, fault) for seed, each in zip(seeds, played, strict=True) for fault in each.faults]
    requests, figures = sum(len(each.requests) for each in played), sum(len(each.figures) for each in played)
    rejected = sum(fault.startswith("rejected") for _, fault in faults)
    lost = sum("never sent" in fault for _, fault in faults)
    print(
        f"{wire:12} {protocol:6} {options.count} conversations, {requests:,} requests, {figures:,} figures: "
        f"{rejected} rejected, {lost} lost, {len(faults) - rejected - lost} wrong answers"
    )
    for seed, fault in faults[:5]:
        print(f"  seed {seed}: {fault}")
    return len(faults)


def _compare_protocols(wire: WireName, options: argparse.Namespace) -> int:
    """The number of questions whose run depends on the protocol."""
    plots = [
        replace(plot, habits=("plain",) * len(plot.habits)) for plot in map(Plot.drawn, range(options.same))
    ]

    def differs(plot: Plot) -> bool:
        text, tools = (play(plot, wire, protocol) for protocol in _PROTOCOLS)
        return _result(text) != _result(tools) or bool(text.faults or tools.faults)

    with ThreadPoolExecutor(options.at_once) as threads:
        unequal = sum(threads.map(differs, plots))
    print(
        f"{wire:12} {len(plots)} questions over text and tools: {unequal} differ in cells, figures, answer or turns"
    )
    return unequal


def _result(played: Played) -> tuple[object, ...]:
    turns = sum(isinstance(event, ModelCall) for event in played.events)
    figures = [event.picture for event in played.events if isinstance(event, ImageDefined)]
    return played.answer, played.cells, figures, turns


def _compare_prefixes(wire: WireName, protocol: ProtocolChoice, turns: int) -> int:
    numbers = tuple(str(1000 + at) if at % 2 else None for at in range(turns))
    plot = Plot(0, ("plain",) * turns, numbers, reasons=True, in_results=None, busy=())
    played = play(plot, wire, protocol, max_turns=turns + 5)
    starts = [_prefix(request, wire) for request in played.requests]
    broken = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(starts))
    tokens = [
        sum(map(len, start)) // 4 + 100 * len(request.pictures)
        for start, request in zip(starts, played.requests, strict=True)
    ]
    print(
        f"{wire:12} {protocol:6} {len(starts)} requests, {broken} that do not begin with the one before; "
        f"tokens by turn: {', '.join(map(str, _sampled(tokens)))}"
    )
    return broken + len(played.faults)


def _prefix(request: Request, wire: WireName) -> list[str]:
    """What a prompt cache sees of a request, item by item: tools, system prompt, then the conversation."""
    head = {
        name: request.body.get(name)
        for name in ("tools", "system", "systemInstruction", "system_instruction")
    }
    return [json.dumps(_bare(each)) for each in (head, *request.body[_FIELDS[wire]])]


def _bare(value: Any) -> Any:
    """Without the marks that say where a cache ends: they are no part of the prompt."""
    match value:
        case dict():
            return {name: _bare(item) for name, item in value.items() if name != "cache_control"}
        case list():
            return [_bare(item) for item in value]
        case str() if len(value) > _MOST_PLAIN_CHARS and " " not in value:
            return sha256(value.encode()).hexdigest()[:8]  # a picture, which is counted apart
        case _:
            return value


def _sampled(tokens: Sequence[int]) -> Iterator[int]:
    """The first, every fifth and the last."""
    return (count for at, count in enumerate(tokens) if at % 5 == 0 or at == len(tokens) - 1)


if __name__ == "__main__":
    sys.exit(main())
