"""The table of `sandbox check`, within 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from sandbox.escape_tests.runner import Verdict
from sandbox.isolation.report import Layer

_WIDTH = 80
_LAYER_WIDTH = 11
_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"


def heading(topic: str) -> str:
    """Above the attacks of a topic."""
    return f"\n{topic}"


def verdict_line(verdict: Verdict, *, coloured: bool) -> str:
    """What was tried, and which layer was to contain it; when it did not, what got out."""
    tries, layer = verdict.attack.tries.rstrip("."), verdict.attack.layer
    word = "contained" if verdict.contained else "GOT OUT"
    width = _WIDTH - 2 - len("contained") - 1 - _LAYER_WIDTH - 1
    shown = textwrap.shorten(tries, width, placeholder=" …").ljust(width)
    colour = (_GREEN if verdict.contained else _RED) if coloured else ""
    line = f"  {shown} {layer.ljust(_LAYER_WIDTH)} {colour}{word}{_PLAIN if coloured else ''}"
    return (
        line if verdict.contained else f"{line}\n    {_short(f'{verdict.attack.id}: {verdict.evidence}', 4)}"
    )


def layer_lines(layers: Sequence[Layer]) -> Iterator[str]:
    """What this machine offers."""
    yield "\nlayers"
    for layer in layers:
        label = f"  {layer.name.ljust(15)}{'yes' if layer.is_present else 'NO '}  "
        yield textwrap.fill(layer.detail, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label))


def summary_lines(starts_ms: tuple[float, float], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """How many got out, and how long a session takes to start."""
    escaped = [verdict.attack.id for verdict in verdicts if not verdict.contained]
    yield f"\nstart: {starts_ms[0]:.0f} ms the first session, {starts_ms[1]:.0f} ms each further one"
    seconds = sum(verdict.seconds for verdict in verdicts)
    if escaped:
        yield f"{len(escaped)} of {len(verdicts)} attacks got out: {', '.join(escaped)}"
    else:
        yield f"all {len(verdicts)} attacks were contained, in {seconds:.0f} s"


def _short(text: str, indent: int) -> str:
    return textwrap.shorten(text, _WIDTH - indent, placeholder=" …")
