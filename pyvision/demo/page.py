"""The page: what stands where, and which of it calls what. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from pyvision.demo.session import Pieces, SessionRegistry, announced, downloads
from pyvision.demo.settings import Choice, Settings, UploadLimits, pictures_of
from pyvision.errors import PyVisionError
from pyvision.runs.report.markup import element

_EMPTY: Pieces = (
    element(
        "p",
        "Drop or paste pictures into the box below, ask, and watch: the model writes Python, runs it in an isolated "
        "kernel, looks at what comes out, and answers.",
        class_="facts",
    ),
)
_JOINED = "${value.join('')}"  # of a list, gradio sends what has changed; of a string, all of it each time


@dataclass(frozen=True, slots=True)
class Example:
    """A question about pictures that lie here."""

    text: str
    files: tuple[Path, ...]


class Page:
    """The Blocks, and the handlers of their events."""

    def __init__(
        self,
        sessions: SessionRegistry,
        settings: Settings,
        limits: UploadLimits,
        examples: tuple[Example, ...],
        at_once: int,
    ) -> None:
        self._sessions = sessions
        self._settings = settings
        self._limits = limits
        self.blocks = self._build(examples, at_once)

    def _build(self, examples: tuple[Example, ...], at_once: int) -> gr.Blocks:
        settings = self._settings
        with gr.Blocks(title="PyVision", fill_height=True, analytics_enabled=False) as blocks:
            gr.HTML("<h1>PyVision</h1>", elem_id="head")
            conversation = gr.HTML(list(_EMPTY), html_template=_JOINED, elem_id="talk", autoscroll=True)
            box = gr.MultimodalTextbox(
                label="Question",
                show_label=False,
                placeholder="Ask about your pictures",
                file_count="multiple",
                file_types=["image"],
                sources=["upload"],
                max_plain_text_length=20_000,
                elem_id="box",
                autofocus=True,
            )
            with gr.Row(elem_id="buttons"):
                stop = gr.Button("Stop", variant="stop", size="sm", interactive=False)
                over = gr.Button("Start over", size="sm")
                saved = [
                    gr.DownloadButton(name, size="sm", interactive=False)
                    for name in ("Report", "Notebook", "Trajectory")
                ]
            if examples:
                gr.Examples(
                    [[{"text": each.text, "files": [str(file) for file in each.files]}] for each in examples],
                    box,
                    label="Examples",
                )
            with gr.Accordion("Take a picture", open=False):
                camera = gr.Image(sources=["webcam"], type="filepath", label="Camera", format="png")
                taken = gr.Button("Add it to the question", size="sm")
            with gr.Accordion("Strategy and model", open=False):
                strategy = gr.Dropdown(list(settings.strategies), value="code_loop", label="Strategy")
                model = gr.Dropdown(list(settings.models), value=settings.models[0], label="Model")
                options = gr.Textbox(label="Options", placeholder="KEY=VALUE KEY=VALUE", max_length=500)
                turns = gr.Slider(1, 50, value=20, step=1, label="Replies asked of the model, at most")
            with gr.Accordion("Edit a cell and run on from there", open=False):
                which = gr.Dropdown([], label="Cell", type="index")
                code = gr.Code(language="python", label="Code", lines=6, interactive=True)
                again = gr.Button("Run it, and go on", size="sm")

            shown = [conversation, box, stop, which]
            chosen = [strategy, model, options, turns]
            asking: dict[str, Any] = {
                "concurrency_limit": at_once,
                "concurrency_id": "asking",
                "trigger_mode": "multiple",  # `once` drops what is sent in the moment in which a question ends
                "show_progress": "minimal",  # with the place in the queue
                "show_progress_on": box,
            }
            soon: dict[str, Any] = {"queue": False, "show_progress": "hidden"}
            hidden: dict[str, Any] = {**soon, "api_visibility": "private"}
            asked = box.submit(self.ask, [box, *chosen], shown, api_name="ask", **asking)
            went_on = again.click(self.go_on, [code, which, *chosen], shown, api_name="go_on", **asking)
            for done in (asked, went_on):
                done.then(self.saved, None, saved, **hidden)
            stop.click(self.stop, None, None, api_name="stop", **soon)
            over.click(self.start_over, None, [*shown, *saved], api_name="start_over", **soon)
            which.change(self.code_of, which, code, **hidden)
            taken.click(_with_picture, [box, camera], [box, camera], **hidden)
            blocks.unload(self.leave)
        page: gr.Blocks = blocks
        return page

    def ask(
        self, said: dict[str, Any], strategy: str, model: str, options: str, turns: int, request: gr.Request
    ) -> Iterator[list[Any]]:
        """Ask a question about pictures; what is to be seen, again and again until there is an answer."""
        text = str(said.get("text") or "").strip()
        if text:
            yield self._announced(text, request)
        try:
            if not text:
                raise PyVisionError("the question is empty; write what you want to know")
            task = self._settings.task(Choice(strategy, model, options or "", int(turns)))
            session = self._sessions.session(_visitor(request), task)
            files = [Path(file) for file in said.get("files") or ()]
            pictures = pictures_of(files, self._limits)
        except PyVisionError as error:
            yield from self._refused(error, request)
            return
        yield from self._watch(session.ask(task, text, pictures), request)

    def go_on(
        self,
        code: str,
        cell: int | None,
        strategy: str,
        model: str,
        options: str,
        turns: int,
        request: gr.Request,
    ) -> Iterator[list[Any]]:
        """Run a cell that was edited, and go on from there."""
        try:
            task = self._settings.task(Choice(strategy, model, options or "", int(turns)))
            session = self._sessions.session(_visitor(request), task)
            if not (code or "").strip():
                raise PyVisionError("the cell is empty; choose one and edit it")
        except PyVisionError as error:
            yield from self._refused(error, request)
            return
        yield from self._watch(session.go_on(task, code, -1 if cell is None else cell), request)

    def stop(self, request: gr.Request) -> None:
        """End what is under way; the kernel keeps its variables."""
        if session := self._sessions.find(_visitor(request)):
            session.stop()

    def start_over(self, request: gr.Request) -> list[Any]:
        """A new conversation, with a new kernel."""
        self._sessions.leave(_visitor(request))
        return [*self._idle(_EMPTY, cells=()), *[gr.DownloadButton(value=None, interactive=False)] * 3]

    def saved(self, request: gr.Request) -> list[Any]:
        """The files of the last question that can be taken home."""
        session = self._sessions.find(_visitor(request))
        if session is None or session.last_run is None:
            return [gr.skip()] * 3
        return [gr.DownloadButton(value=str(file), interactive=True) for file in downloads(session.last_run)]

    def leave(self, request: gr.Request) -> None:
        """The tab was closed."""
        self._sessions.leave(_visitor(request))

    def code_of(self, cell: int | None, request: gr.Request) -> Any:
        """The code of a cell, to be edited."""
        session = self._sessions.find(_visitor(request))
        cells = session.cells if session else ()
        return cells[cell] if cell is not None and cell < len(cells) else gr.skip()

    def _announced(self, text: str, request: gr.Request) -> list[Any]:
        """Seen at once; the box keeps what was said until the pictures are found to be good."""
        session = self._sessions.find(_visitor(request))
        return [
            list(session.announced(text) if session else announced(text)),
            gr.skip(),
            gr.skip(),
            gr.skip(),
        ]

    def _watch(self, updates: Iterator[Pieces], request: gr.Request) -> Iterator[list[Any]]:
        box, stop = gr.MultimodalTextbox(value=None, interactive=False), gr.Button(interactive=True)
        for pieces in updates:
            yield [list(pieces), box, stop, gr.skip()]
            box = stop = gr.skip()
        session = self._sessions.find(_visitor(request))  # none, when it was started over meanwhile
        yield self._idle(session.pieces, session.cells) if session else self._idle(_EMPTY, cells=())

    def _idle(self, pieces: Pieces, cells: tuple[str, ...]) -> list[Any]:
        box = gr.MultimodalTextbox(interactive=True)
        names = [f"{number}: {_first_line(code)}" for number, code in enumerate(cells, start=1)]
        which = gr.Dropdown(choices=names, value=names[-1] if names else None)
        return [list(pieces), box, gr.Button(interactive=False), which]

    def _refused(self, error: PyVisionError, request: gr.Request) -> Iterator[list[Any]]:
        session = self._sessions.find(_visitor(request))
        told = element("p", str(error), class_="bad", role="alert")
        yield [[*(session.pieces if session else ()), told], gr.skip(), gr.skip(), gr.skip()]


def _visitor(request: gr.Request) -> str:
    return str(request.session_hash)


def _first_line(code: str) -> str:
    line = next((line.strip() for line in code.splitlines() if line.strip()), "")
    return line if len(line) <= 60 else f"{line[:59]}…"


def _with_picture(said: dict[str, Any] | None, taken: str | None) -> tuple[Any, Any]:
    """The question with the picture of the camera beside its others."""
    if not taken:
        return gr.skip(), gr.skip()
    said = said or {}
    return {"text": said.get("text") or "", "files": [*(said.get("files") or ()), taken]}, None


# ---- Questions to begin with, where the pictures for them are at hand: in a checkout.


_PICTURES = Path(__file__).parent.parent.parent / "examples"
_QUESTIONS = (
    ("How many circles are in the image?", ("circles.png",)),
    ("How many rows and columns does the table have?", ("table.png",)),
    ("What are the differences between the two images?", ("shapes.png", "shapes_changed.png")),
)


def examples() -> tuple[Example, ...]:
    """Those whose pictures are there."""
    found = (Example(text, tuple(_PICTURES / name for name in names)) for text, names in _QUESTIONS)
    return tuple(example for example in found if all(file.is_file() for file in example.files))
