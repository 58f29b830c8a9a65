"""A notebook that runs from top to bottom in Jupyter, with the recorded outputs in it and the images beside it.

nbformat 4.5. A cell that raised is tagged `raises-exception`, so that "Run all" continues after it; a cell that timed
out or killed its kernel is shown as text. Text of people and models stands in fences, so that it is never Markdown or
HTML. Cells that call tools get the recorded results, from tools.json.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyvision.errors import ToolError
from pyvision.events import CellRun, ToolRun
from pyvision.runs.export.formats import Export, as_json, facts
from pyvision.runs.replay.rerun import RecordedTools
from pyvision.runs.run import Run, Turn, ending, pair_figures
from pyvision.strategies.vdebugger.execution import FUNCTIONS, Services
from pyvision.text.replies import find_thought
from pyvision.text.sanitize import printable
from pyvision.types import Picture
from sandbox import HELPERS, CellResult, Figure, Omitted, Output, Stream, View

_BACKTICKS = re.compile("`+")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}", re.ASCII)
_RUNS = ("ok", "error")
_OFFLINE = "pyvision_offline"
_SETUP = """\
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image"""
_HELPER_CALL = re.compile(r"\b(zoom|mark|grid|to_original|from_shown)\s*\(")
_HELPERS_SETUP = f"""\
from {HELPERS.name} import define, from_shown, grid, install, mark, to_original, zoom

install()"""
_TOOLS_SETUP = """\
class RecordedTools:
    \"""Returns what the tools returned when this run was recorded, for each function in order.\"""

    def __init__(self, calls):
        self._calls = calls

    def __getattr__(self, name):
        def call(*arguments, **options):
            for at, (function, value, error) in enumerate(self._calls):
                if function == name:
                    del self._calls[at]
                    if error:
                        raise RuntimeError(error)
                    return value
            if name in ("conclude", "verify"):  # not a tool; texts were ranked instead
                return None
            raise RuntimeError(f"{name}: the recording has no further call of this function in this cell")

        return call


with open("tools.json", encoding="utf-8") as file:
    recorded_tools = json.load(file)"""
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def export_notebook(run: Run, folder: Path) -> Export:
    """notebook.ipynb, its images under the names that cells use, and the modules with what cells import or call."""
    cells = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(_cells(run))]
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {**_METADATA, "pyvision": facts(run)},
        "cells": cells,
    }
    pictures = [
        *run.inputs.items(),
        *(named for turn in run.turns for named in _figures_of(turn) if _is_name(named[0])),
    ]
    files = {_file(name, picture): picture.data for name, picture in pictures}
    calls = find_calls(run)
    tools = [("tools.json", as_json(calls))] if any(calls) else []
    return Export((("notebook.ipynb", as_json(notebook, indent=1)), *tools, *files.items(), *_modules(run)))


def find_calls(run: Run) -> list[list[tuple[str, Any, str]]]:
    """For each cell, the functions that it called on `host`, each with its value and its error, "" if it had none."""
    strategy = run.began.strategy if run.began else ""
    called: list[list[tuple[str, Any, str]]] = []
    calls: list[tuple[str, Any, str]] = []
    for event in run.events:
        match event:
            case ToolRun():
                calls.append(_value_of_call(event, strategy))
            case CellRun():
                called.append(calls)
                calls = []
    return called


def _value_of_call(call: ToolRun, strategy: str) -> tuple[str, Any, str]:
    """What a cell got from a tool: the function by which it called it, and its value or error."""
    observation = call.observation
    if observation.error is not None:
        return (
            (FUNCTIONS if strategy == "vdebugger" else {}).get(call.tool, call.tool),
            None,
            observation.error,
        )
    if strategy == "vdebugger" and call.tool in FUNCTIONS:
        return _value_of_program_call(call)
    return call.tool, observation.text if observation.data is None else observation.data, ""


def _value_of_program_call(call: ToolRun) -> tuple[str, Any, str]:
    """The same for a visual program, whose functions return values of another form."""
    services, request = Services(RecordedTools([call])), call.request
    picture = request.picture
    image = Figure(picture.data, picture.mime, picture.width, picture.height) if picture else None
    arguments: dict[str, tuple[Any, ...]] = {
        "match": (image, list(request.options.get("texts") or ())),
        "verify": (image, request.text, request.options.get("property")),
        "depth": (image,),
        "llm_qa": (request.text,),
    }
    name = FUNCTIONS[call.tool]
    try:
        return name, services.functions[name](*arguments.get(call.tool, (image, request.text))), ""
    except ToolError as error:
        return name, None, str(error)


def _modules(run: Run) -> Iterator[tuple[str, bytes]]:
    """The packages that its cells need, to lie beside the notebook."""
    if _uses(run, _HELPER_CALL):
        for path in sorted(HELPERS.glob("*.py")):
            yield f"{HELPERS.name}/{path.name}", path.read_bytes()
    if _uses(run, re.compile(_OFFLINE)):
        from pyvision.offline.plans import MODULES

        for path in sorted(Path(MODULES, _OFFLINE).glob("*.py")):
            yield f"{_OFFLINE}/{path.name}", path.read_bytes()


def _uses(run: Run, pattern: re.Pattern[str]) -> bool:
    """Whether any cell of the run contains it."""
    return any(pattern.search(ran.code) for turn in run.turns for ran, _ in pair_figures(turn.events))


def _cells(run: Run) -> Iterator[dict[str, Any]]:
    yield _markdown("# Question", run.question.text)
    views = run.views if _uses(run, _HELPER_CALL) else None
    calls = find_calls(run)
    setup = _SETUP if views is None else f"{_SETUP}\n{_HELPERS_SETUP}"
    if any(calls):
        yield _markdown("The tools are not asked again: `host` returns what they returned in the recording.")
        setup = f"import json\n\n{setup}\n\n\n{_TOOLS_SETUP}"
    yield _code("\n".join([setup, "", *_loading(run.inputs.items(), views)]).rstrip())
    number = 0
    for turn in run.turns:
        yield from _turn(turn, views, number if any(calls) else None)
        number += len(list(pair_figures(turn.events)))
    ended = run.ended
    meaning = ending(ended.outcome.end_reason if ended else None)
    yield _markdown(f"# Answer\n\nOutcome: {meaning.text}.", (ended.outcome.answer or "") if ended else "")


def _turn(turn: Turn, views: Mapping[str, View] | None, number: int | None) -> Iterator[dict[str, Any]]:
    """number: of its first cell in the recorded calls; None if no cell of the run calls a tool."""
    if turn.asked:
        text = turn.asked.reply.text
        yield _markdown(f"## Turn {turn.number}", find_thought(text) if turn.cells else text)
    for at, (ran, names) in enumerate(pair_figures(turn.events)):
        if ran.result.status in _RUNS:
            if number is not None and "host." in ran.code:
                yield _code(f"host = RecordedTools(recorded_tools[{number + at}])")
            tags = {"tags": ["raises-exception"]} if ran.result.status == "error" else {}
            yield _code(ran.code, tags, _outputs(ran.result))
        else:
            yield _markdown(
                f"This cell does not run again; its recorded status is {ran.result.status}.",
                ran.code,
                "python",
            )
        loading = _loading([named for named in names if named and _is_name(named[0])], views)
        if loading:
            yield _code("\n".join(loading))


def _figures_of(turn: Turn) -> Iterator[tuple[str, Picture]]:
    for _, names in pair_figures(turn.events):
        yield from (named for named in names if named)


def _is_name(name: str) -> bool:
    """Whether this is safe as a variable and as a file name; the recording may come from anywhere."""
    return _NAME.fullmatch(name) is not None


def _loading(pictures: Iterable[tuple[str, Picture]], views: Mapping[str, View] | None) -> list[str]:
    """Lines that define the images as in the kernel: RGB, at full size. views: for the helpers, if cells use them."""
    lines = []
    for name, picture in pictures:
        lines.append(f'{name} = Image.open("{_file(name, picture)}").convert("RGB")')
        if views is not None:
            lines.append(f'define("{name}", {name}, {asdict(views.get(name, View()))!r})')
    return lines


def _file(name: str, picture: Picture) -> str:
    return f"images/{name}.{'png' if picture.mime == 'image/png' else 'jpg'}"


def _markdown(heading: str, text: str = "", language: str = "text") -> dict[str, Any]:
    fenced = f"\n\n{_fence(text, language)}" if text.strip() else ""
    return {"cell_type": "markdown", "metadata": {}, "source": heading + fenced}


def _fence(text: str, language: str) -> str:
    """Fenced text; the fence is longer than any in the text."""
    text = printable(text)
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _code(source: str, metadata: dict[str, Any] | None = None, outputs: Sequence[Any] = ()) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata or {},
        "outputs": list(outputs),
        "source": source,
    }


def _outputs(result: CellResult) -> list[dict[str, Any]]:
    outputs = [_output(output) for output in result.outputs]
    error = result.error
    if error is None:
        return outputs
    lines = printable(error.traceback or f"{error.name}: {error.message}").split("\n")
    return [
        *outputs,
        {"output_type": "error", "ename": error.name, "evalue": error.message, "traceback": lines},
    ]


def _output(output: Output) -> dict[str, Any]:
    match output:
        case Stream(name="result", text=text):
            data = {"text/plain": text.rstrip("\n")}
            return {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        case Stream(name=name, text=text):
            return {"output_type": "stream", "name": name, "text": printable(text)}
        case Omitted(note=note):
            return {"output_type": "stream", "name": "stderr", "text": f"[{note}]\n"}
        case Figure(data=data, mime=mime):
            return {"output_type": "display_data", "metadata": {}, "data": {mime: b64encode(data).decode()}}
