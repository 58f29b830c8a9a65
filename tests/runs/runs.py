"""Small runs made up for tests, and written as the program writes them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pyvision.events import CellRun, Event, ImageDefined, ModelCall, Note, RunEnded, RunStarted, Sent
from pyvision.runs.run import Run, read_run
from pyvision.trajectory import TrajectoryWriter
from pyvision.types import Message, Outcome, Picture, Question, Reply, Text, Usage
from sandbox import CellError, CellResult, Figure, Omitted, Stream

CODE = "print(image_clue_0.size)\ndisplay(image_clue_0.crop((10, 20, 50, 50)))"
CONFIG: Mapping[str, Any] = {
    "strategy": "code_loop",
    "options": {"repairs": 3, "prompt_file": None},
    "model": {"wire": "scripted"},
    "limits": {"max_turns": 20, "max_tokens": 2_000_000, "max_seconds": 1800.0, "max_cost": None},
    "policy": {"cell_timeout_s": 30.0},
    "images": ["noise.png"],
}


def png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def noise(width: int = 120, height: int = 90, seed: int = 0) -> Image.Image:
    """Every pixel another colour, so that a cut can lie in one place only."""
    y, x, c = np.ogrid[:height, :width, :3]
    return Image.fromarray(((seed + 7 * x + 31 * y + x * y % 251 * (c + 1)) % 256).astype(np.uint8))


def picture(image: Image.Image) -> Picture:
    return Picture(png(image), "image/png", image.width, image.height)


def figure(image: Image.Image) -> Figure:
    return Figure(png(image), "image/png", image.width, image.height)


def cell(code: str = CODE, prose: str = "I look closer.") -> str:
    return f"{prose}\n<code>\n```python\n{code}\n```\n"


def user(*parts: Text | Picture) -> Message:
    return Message("user", parts)


def assistant(text: str) -> Message:
    return Message("assistant", (Text(text),))


def simple_events() -> tuple[Event, ...]:
    """Two turns: a cell that cuts a piece out of the picture, then the answer."""
    whole = noise()
    cut = whole.crop((10, 20, 50, 50))
    question = Question("Which colour is at (10, 20)?", (picture(whole),))
    opening = (
        Message("system", (Text("You look at pictures."),)),
        user(Text("<image_clue_0>\n"), question.images[0], Text("\n</image_clue_0>\n"), Text(question.text)),
    )
    seen = user(
        Text("<interpreter>\n"),
        Text("(120, 90)\n"),
        Text("<image_clue_1>\n"),
        picture(cut),
        Text("\n</image_clue_1>\n"),
        Text("</interpreter>"),
    )
    first, last = (
        Reply(cell(), Usage(100, 20, 50), "stop"),
        Reply("It is grey.\n<answer>\n\\boxed{grey}\n</answer>", Usage(150, 8)),
    )
    sent = (Sent("image_clue_0", "0" * 64, 120, 90),)
    return (
        RunStarted(question, "code_loop", {"default": "scripted"}),
        ModelCall("solver", "scripted", opening, first, 1.5, sent),
        CellRun(CODE, CellResult("ok", (Stream("stdout", "(120, 90)\n"), figure(cut)), seconds=0.25)),
        ImageDefined("image_clue_1", picture(cut)),
        ModelCall("solver", "scripted", (*opening, assistant(first.text + "</code>"), seen), last, 0.5, sent),
        RunEnded(Outcome("grey", "answered"), Usage(250, 28, 50), 2, 1, 2.4),
    )


def tool_events() -> tuple[Event, ...]:
    """The cell of the simple run asks a tool, and the tool a model."""
    began, asked, *rest = simple_events()
    by_tool = ModelCall("vqa", "other", (), Reply("It is **grey**."), 0.1, for_tool=True)
    return (began, asked, by_tool, *rest)


def eventful_events() -> tuple[Event, ...]:
    """Every kind of mishap: an error, a timeout, a dead kernel, a repair, a figure that is none, output left out."""
    simple = simple_events()
    asked = simple[1]
    assert isinstance(asked, ModelCall)
    error = CellError(
        "NameError", "name 'x' is not defined", 1, "NameError: name 'x' is not defined\n  line 1: print(x)"
    )
    mishaps = (
        CellRun("print(x)", CellResult("error", (Stream("stderr", "careful\n"),), error, 0.1)),
        CellRun(
            "while True: pass",
            CellResult("timeout", (Omitted("9 lines left out"),), CellError("Timeout", "30 s", 1), 30.0),
        ),
        CellRun(
            "import os; os._exit(1)",
            CellResult("died", (), CellError("KernelDied", "the kernel died"), 0.3, "lost"),
        ),
    )
    asks = [ModelCall("solver", "scripted", asked.messages, Reply(cell(ran.code)), 1.0) for ran in mishaps]
    refused = CellRun(
        "show()", CellResult("ok", (Figure(b"no picture", "image/png", 9, 9),), stragglers="late\n")
    )
    return (
        *simple[:4],
        Note("malformed", {"why": "no code", "left": 2}),
        *(event for pair in zip(asks, mishaps, strict=True) for event in pair),
        ModelCall(
            "critic",
            "other",
            asked.messages,
            Reply("<think>hm</think>Cut", Usage(5, 5), "length", "I reason."),
            2.0,
        ),
        refused,
        Note("figure_refused", {"why": "damaged"}),
        Note("graph", {"nodes": [{"name": "a", "edges": ["b", "c"]}], "text": "one\ntwo"}),
        RunEnded(
            Outcome(None, "turn_limit", "the last reply held no answer"), Usage(300, 60), 5, 5, 40.0, 0.0123
        ),
    )


def written(folder: Path, events: Sequence[Event], config: Mapping[str, Any] = CONFIG) -> Path:
    with TrajectoryWriter(folder, config) as trajectory:
        for event in events:
            trajectory.write(event)
    return folder


def recorded(folder: Path, events: Sequence[Event], config: Mapping[str, Any] = CONFIG) -> Run:
    return read_run(written(folder, events, config))


def random_picture(side: int) -> Picture:
    """One that no compression makes smaller."""
    return picture(Image.frombytes("RGB", (side, side), os.urandom(side * side * 3)))
