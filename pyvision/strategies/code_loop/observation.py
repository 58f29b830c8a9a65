"""The interpreter turn: what a cell printed and drew, as parts of the next user message."""

from __future__ import annotations

from itertools import groupby

from pyvision.agent.episode import Episode
from pyvision.text.prompts import render
from pyvision.text.sanitize import sanitize
from pyvision.types import Part, Picture, Text
from sandbox import CellResult, Figure, Output


def observe(result: CellResult, episode: Episode, output_chars: int) -> tuple[Part, ...]:
    """Text and figures in the order in which they came, then how the cell ended.

    Each figure is defined in the kernel under the tag it is shown with. Tags the guest printed are defused.
    """
    runs = [(is_figure, list(group)) for is_figure, group in groupby(result.outputs, _is_figure)]
    texts = max(1, sum(not is_figure for is_figure, _ in runs))
    parts: list[Part] = [Text("<interpreter>\n")]
    for is_figure, outputs in runs:
        if is_figure:
            parts += _figure_parts([output for output in outputs if isinstance(output, Figure)], episode)
        else:
            text = CellResult("ok", tuple(outputs)).text
            parts.append(Text(sanitize(text, output_chars // texts).rstrip("\n") + "\n"))
    ending = _ending(result, output_chars)
    if ending or not runs:
        parts.append(Text((ending or render("code_loop/no_output.md")) + "\n"))
    return (*parts, Text("</interpreter>"))


def tag_picture(name: str, picture: Picture) -> tuple[Part, ...]:
    """A picture between its tags, as the model sees every picture it may refer to."""
    return (Text(f"<{name}>\n"), picture, Text(f"\n</{name}>\n"))


def _is_figure(output: Output) -> bool:
    return isinstance(output, Figure)


def _figure_parts(figures: list[Figure], episode: Episode) -> list[Part]:
    named = episode.define(figures)
    parts: list[Part] = [part for name, picture in named for part in tag_picture(name, picture)]
    refused = len(figures) - len(named)
    return [*parts, Text(render("code_loop/figure_refused.md", count=refused) + "\n")] if refused else parts


def _ending(result: CellResult, output_chars: int) -> str:
    state = "" if result.status == "ok" else _state(result)
    match result.status:
        case "ok":
            return state
        case "timeout":
            line = f" at line {result.error.line}" if result.error and result.error.line else ""
            return render("code_loop/timeout.md", seconds=f"{result.seconds:.1f}", line=line, state=state)
        case "died":
            return render("code_loop/died.md", seconds=f"{result.seconds:.1f}", state=state)
        case "error":
            error = result.error
            text = (error.traceback or f"{error.name}: {error.message}") if error else "the cell failed"
            return f"Error:\n{sanitize(text, output_chars)}" + (
                f"\n{state}" if result.state == "lost" else ""
            )


def _state(result: CellResult) -> str:
    return render(f"code_loop/state_{result.state}.md")
