"""The graphs of a debate as one HTML page, coloured by what changed: for a report, a demonstration or a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pyvision.runs.report.debate_graphs.drawing import FILL, INK, SIGN, draw
from pyvision.strategies.bdog.graphs import Graph, difference
from pyvision.runs.report.debate_graphs.record import Drawn, Record

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "figure{margin:1.5em 0;border:1px solid #ddd;border-radius:6px;padding:.6em;overflow-x:auto}"
    "figcaption{font-weight:600;margin-bottom:.4em}pre{white-space:pre-wrap}svg{max-width:100%;height:auto}"
    "small{font-weight:400;color:#555}b.mark{padding:0 .5em;border-radius:4px;font-weight:600}"
)


def page(record: Record) -> str:
    """A whole HTML document that needs no other file and runs nothing; what models wrote stands in it escaped."""
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        f"<title>{escape(record.name)}</title><style>{_STYLE}</style>",
        f"<h1>Debate on a graph</h1><pre>{escape(record.question)}</pre><p>{_ending(record)}</p><p>{_legend()}</p>",
        *(f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" for caption, svg in figures(record)),
        "</html>\n",
    ]
    return "\n".join(parts)


def figures(record: Record) -> Iterator[tuple[str, str]]:
    """A caption (HTML) and a picture (SVG) for every graph, and one a round for what changed since the last."""
    before = blueprint = Graph()
    rounds = [drawn.round for drawn in record.drawn]
    for place, drawn in enumerate(record.drawn):
        if drawn.round == 0:
            yield _caption(drawn, ""), draw(difference(drawn.graph, drawn.graph))
            before = blueprint = drawn.graph
            continue
        yield _caption(drawn, "against the graph it was given"), draw(difference(before, drawn.graph))
        before = drawn.graph
        if place + 1 == len(rounds) or rounds[place + 1] != drawn.round:
            title = f"Round {drawn.round} as a whole <small>against the round before</small>"
            yield title, draw(difference(blueprint, drawn.graph))
            blueprint = drawn.graph


def _caption(drawn: Drawn, against: str) -> str:
    where = f"Round {drawn.round}, " if drawn.round else ""
    which = f" {drawn.debater}" if drawn.debater > 1 else ""
    told = [against, f"how: {drawn.source.replace('_', ' ')}" if drawn.source != "read" else ""]
    told.append("mended: " + ", ".join(drawn.repairs).replace("_", " ") if drawn.repairs else "")
    return f"{where}{escape(drawn.role)}{which} <small>{escape(' · '.join(filter(None, told)))}</small>"


def _legend() -> str:
    return " ".join(
        f'<b class="mark" style="color:{ink};background:{FILL[mark]}">{SIGN[mark]}{mark}</b>'
        for mark, ink in INK.items()
    )


def _ending(record: Record) -> str:
    answer = f"Answer: <b>{escape(record.answer)}</b>" if record.answer is not None else "No answer"
    why = f" ({escape(record.end_reason)})" if record.end_reason and record.end_reason != "answered" else ""
    debate = (
        f" · ended in round {record.end_round}: {escape(str(record.why_ended))}" if record.end_round else ""
    )
    return f"{answer}{why}{debate} · {record.calls} calls, {record.tokens:,} tokens, {record.seconds:.1f} s"
