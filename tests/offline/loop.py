"""A real double of the loop: Offline is asked, its cells run here, what they print goes back."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyvision.offline import Offline
from pyvision.text.replies import find_answer, find_code
from pyvision.types import Message, Picture, Reply, Sampling, Text

if TYPE_CHECKING:
    from PIL.Image import Image

SYSTEM = Message("system", (Text("Write one cell in <code> with a python fence, or the answer."),))


@dataclass(frozen=True, slots=True)
class Run:
    """What came out: the answer (None: declined), the last reply, and the cells that ran."""

    answer: str | None
    reply: Reply
    cells: tuple[str, ...]
    outputs: tuple[str, ...]


def opening(question: str, sizes: Sequence[tuple[int, int]]) -> tuple[Message, ...]:
    """The conversation as it begins; the pictures are empty on purpose, because Offline must not look at them."""
    parts: list[Text | Picture] = []
    for index, (width, height) in enumerate(sizes):
        picture = Picture(b"", "image/png", width, height)
        parts += [Text(f"<image_clue_{index}>\n"), picture, Text(f"\n</image_clue_{index}>\n")]
    lines = "\n".join(f"image_clue_{i}: {w} x {h} pixels" for i, (w, h) in enumerate(sizes))
    parts.append(Text(f"{lines}\n\n<question>\n{question}\n</question>"))
    return SYSTEM, Message("user", tuple(parts))


def ask(question: str, *pictures: Image, most_cells: int = 6) -> Run:
    """Run the whole conversation in this process."""
    conversation = opening(question, [picture.size for picture in pictures])
    cells: list[str] = []
    outputs: list[str] = []
    kernel = open_kernel(pictures)
    while True:
        reply = Offline().complete(conversation, Sampling())
        code = find_code(reply.text)
        if code is None or len(cells) == most_cells:
            answer = None if reply.finish == "refusal" else find_answer(reply.text)
            return Run(answer, reply, tuple(cells), tuple(outputs))
        cells.append(code)
        outputs.append(run_cell(code, kernel))
        turn = Text(f"<interpreter>\n{outputs[-1]}\n</interpreter>")
        conversation = (*conversation, Message("assistant", (Text(reply.text),)), Message("user", (turn,)))


def open_kernel(pictures: Sequence[Image]) -> dict[str, Any]:
    """A namespace like the kernel's, with the images; what shows figures does nothing in it."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from PIL import Image as ImageModule

    sys.modules["pyvision_offline"] = import_module("pyvision.offline.modules.pyvision_offline")
    names: dict[str, Any] = {
        "np": np,
        "plt": plt,
        "Image": ImageModule,
        "zoom": lambda image, box: None,
        "mark": lambda image, boxes, labels: None,
    }
    return names | {f"image_clue_{index}": picture.convert("RGB") for index, picture in enumerate(pictures)}


def run_cell(code: str, kernel: dict[str, Any]) -> str:
    """What the cell prints; its variables stay, and its figures are thrown away."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, kernel)
        kernel["plt"].close("all")
    return printed.getvalue()
