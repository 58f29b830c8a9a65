"""A notebook that runs from top to bottom in Jupyter, with the recorded outputs in it and the images beside it.

nbformat 4.5. A cell that raised is tagged `raises-exception`, so that "Run all" continues after it; a cell that timed
out or killed its kernel is shown as text. Text of people and models stands in fences, so that it is never Markdown or
HTML.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyvision.runs.export.formats import Export, as_json, facts
from pyvision.runs.report.run import Run, Turn, ending, pair_figures
from pyvision.text.replies import thought
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
    return Export((("notebook.ipynb", as_json(notebook, indent=1)), *files.items(), *_modules(run)))


def _modules(run: Run) -> Iterator[tuple[str, bytes]]:
    """The packages that its cells need, to lie beside the notebook."""
    if _uses(run, _HELPER_CALL):
        for path in sorted(HELPERS.glob("*.py")):
            yield f"{HELPERS.name}/{path.name}", path.read_bytes()
    if _uses(run, re.compile(_OFFLINE)):
        from pyvision.offline.modules import FOLDER

        for path in sorted(Path(FOLDER, _OFFLINE).glob("*.py")):
            yield f"{_OFFLINE}/{path.name}", path.read_bytes()


def _uses(run: Run, pattern: re.Pattern[str]) -> bool:
    """Whether any cell of the run contains it."""
    return any(pattern.search(ran.code) for turn in run.turns for ran, _ in pair_figures(turn.events))


def _cells(run: Run) -> Iterator[dict[str, Any]]:
    yield _markdown("# Question", run.question.text)
    views = run.views if _uses(run, _HELPER_CALL) else None
    setup = _SETUP if views is None else f"{_SETUP}\n{_HELPERS_SETUP}"
    yield _code("\n".join([setup, "", *_loading(run.inputs.items(), views)]).rstrip())
    for turn in run.turns:
        yield from _turn(turn, views)
    ended = run.ended
    meaning = ending(ended.outcome.end_reason if ended else None)
    yield _markdown(f"# Answer\n\nOutcome: {meaning.text}.", (ended.outcome.answer or "") if ended else "")


def _turn(turn: Turn, views: Mapping[str, View] | None) -> Iterator[dict[str, Any]]:
    if turn.asked:
        text = turn.asked.reply.text
        yield _markdown(f"## Turn {turn.number}", thought(text) if turn.cells else text)
    for ran, names in pair_figures(turn.events):
        if ran.result.status in _RUNS:
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
