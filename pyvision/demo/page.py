"""The layout of the page and the handlers of its events. What they do is decided in `session` and `settings`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from pyvision.demo.session import Pieces, SessionRegistry, preview, write_downloads
from pyvision.demo.settings import Choice, Settings, UploadLimits, read_images
from pyvision.demo.view import error_message
from pyvision.errors import PyVisionError
from pyvision.runs.report.markup import element, shorten

_WELCOME: Pieces = (
    element(
        "p",
        "Drop or paste images into the box below and ask a question. The model writes Python, runs it in an isolated "
        "kernel, looks at the output and answers.",
        class_="facts",
    ),
)
_JOINED = "${value.join('')}"  # gradio sends only the changed items of a list, but a string in full
_DOWNLOADS = ("Report", "Notebook", "Trajectory")
_EXAMPLE_IMAGES = Path(__file__).parent.parent.parent / "examples"  # in a checkout only
_EXAMPLE_QUESTIONS = (
    ("How many circles are in the image?", ("circles.png",)),
    ("How many rows and columns does the table have?", ("table.png",)),
    ("What are the differences between the two images?", ("shapes.png", "shapes_changed.png")),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the files of its images."""

    text: str
    files: tuple[Path, ...]


def find_examples() -> tuple[Example, ...]:
    """The example questions whose images exist."""
    found = (
        Example(text, tuple(_EXAMPLE_IMAGES / name for name in names)) for text, names in _EXAMPLE_QUESTIONS
    )
    return tuple(example for example in found if all(file.is_file() for file in example.files))


class Page:
    """The gradio Blocks with their event handlers."""

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
            conversation = gr.HTML(
                list(_WELCOME), html_template=_JOINED, elem_id="conversation", autoscroll=True
            )
            box = gr.MultimodalTextbox(
                label="Question",
                show_label=False,
                placeholder="Ask about your images",
                file_count="multiple",
                file_types=["image"],
                sources=["upload"],
                max_plain_text_length=20_000,
                elem_id="box",
                autofocus=True,
            )
            with gr.Row(elem_id="buttons"):
                stop = gr.Button("Stop", variant="stop", size="sm", min_width=120, interactive=False)
                start_over = gr.Button("Start over", size="sm", min_width=120)
                downloads = [
                    gr.DownloadButton(name, size="sm", min_width=120, interactive=False)
                    for name in _DOWNLOADS
                ]
            if examples:
                gr.Examples(
                    [[{"text": each.text, "files": [str(file) for file in each.files]}] for each in examples],
                    box,
                    label="Examples",
                )
            with gr.Accordion("Take a photo", open=False):
                camera = gr.Image(sources=["webcam"], type="filepath", label="Camera", format="png")
                add_photo = gr.Button("Add to the question", size="sm")
            with gr.Accordion("Strategy and model", open=False):
                strategy = gr.Dropdown(list(settings.strategies), value="code_loop", label="Strategy")
                model = gr.Dropdown(list(settings.models), value=settings.models[0], label="Model")
                options = gr.Textbox(
                    label="Strategy options", placeholder="KEY=VALUE KEY=VALUE", max_length=500
                )
                turns = gr.Slider(1, 50, value=20, step=1, label="Maximum number of turns")
            with gr.Accordion("Edit a cell and continue from there", open=False):
                cell = gr.Dropdown([], label="Cell", type="index")
                code = gr.Code(language="python", label="Code", lines=6, max_lines=20, interactive=True)
                resume = gr.Button("Run and continue", size="sm")

            outputs = [conversation, box, stop, cell]
            choices = [strategy, model, options, turns]
            queued: dict[str, Any] = {
                "concurrency_limit": at_once,
                "concurrency_id": "asking",
                "trigger_mode": "multiple",  # `once` drops a question sent just as the last one ends
                "show_progress": "minimal",  # with the place in the queue
                "show_progress_on": box,
            }
            immediate: dict[str, Any] = {"queue": False, "show_progress": "hidden"}
            private: dict[str, Any] = {**immediate, "api_visibility": "private"}
            answered = box.submit(self.ask, [box, *choices], outputs, api_name="ask", **queued)
            resumed = resume.click(self.resume, [code, cell, *choices], outputs, api_name="go_on", **queued)
            for done in (answered, resumed):
                done.then(self.offer_downloads, None, downloads, **private)
            stop.click(self.stop, None, None, api_name="stop", **immediate)
            start_over.click(
                self.start_over, None, [*outputs, *downloads], api_name="start_over", **immediate
            )
            cell.change(self.code_of, cell, code, **private)
            add_photo.click(_add_photo, [box, camera], [box, camera], **private)
            blocks.unload(self.leave)
        page: gr.Blocks = blocks
        return page

    def ask(
        self,
        message: dict[str, Any],
        strategy: str,
        model: str,
        options: str,
        turns: int,
        request: gr.Request,
    ) -> Iterator[list[Any]]:
        """Ask a question about images; yields the page's state after each update until there is an answer."""
        text = str(message.get("text") or "").strip()
        if text:
            yield self._preview(text, request)
        try:
            if not text:
                raise PyVisionError("the question is empty; type a question")
            task = self._settings.task(Choice(strategy, model, options or "", int(turns)))
            session = self._sessions.session(_visitor(request), task)
            files = [Path(file) for file in message.get("files") or ()]
            pictures = read_images(files, self._limits)
        except PyVisionError as error:
            yield self._error(error, request)
            return
        yield from self._watch(session.ask(task, text, pictures), request)

    def resume(
        self,
        code: str,
        cell: int | None,
        strategy: str,
        model: str,
        options: str,
        turns: int,
        request: gr.Request,
    ) -> Iterator[list[Any]]:
        """Run an edited cell and continue from there."""
        try:
            task = self._settings.task(Choice(strategy, model, options or "", int(turns)))
            session = self._sessions.session(_visitor(request), task)
            if not (code or "").strip():
                raise PyVisionError("the cell is empty; choose a cell and edit it")
        except PyVisionError as error:
            yield self._error(error, request)
            return
        yield from self._watch(session.resume(task, code, -1 if cell is None else cell), request)

    def stop(self, request: gr.Request) -> None:
        """Interrupt the question; the kernel keeps its variables."""
        if session := self._sessions.find(_visitor(request)):
            session.stop()

    def start_over(self, request: gr.Request) -> list[Any]:
        """Begin a new conversation with a new kernel."""
        self._sessions.leave(_visitor(request))
        disabled = [gr.DownloadButton(value=None, interactive=False)] * len(_DOWNLOADS)
        return [*_idle(_WELCOME, cells=()), *disabled]

    def offer_downloads(self, request: gr.Request) -> list[Any]:
        """The downloads of the last question."""
        session = self._sessions.find(_visitor(request))
        if session is None or session.last_run is None:
            return [gr.skip()] * len(_DOWNLOADS)
        files = write_downloads(session.last_run)
        return [gr.DownloadButton(value=str(file), interactive=True) for file in files]

    def leave(self, request: gr.Request) -> None:
        """The tab was closed."""
        self._sessions.leave(_visitor(request))

    def code_of(self, cell: int | None, request: gr.Request) -> Any:
        """The code of a cell, for the editor."""
        session = self._sessions.find(_visitor(request))
        cells = session.cells if session else ()
        return cells[cell] if cell is not None and cell < len(cells) else gr.skip()

    def _preview(self, text: str, request: gr.Request) -> list[Any]:
        """Shows the question at once; the box keeps its content until the images prove valid."""
        session = self._sessions.find(_visitor(request))
        pieces = session.preview(text) if session else preview(text)
        return [list(pieces), gr.skip(), gr.skip(), gr.skip()]

    def _watch(self, updates: Iterator[Pieces], request: gr.Request) -> Iterator[list[Any]]:
        box, stop = gr.MultimodalTextbox(value=None, interactive=False), gr.Button(interactive=True)
        for pieces in updates:
            yield [list(pieces), box, stop, gr.skip()]
            box = stop = gr.skip()
        session = self._sessions.find(_visitor(request))  # None if the visitor has started over meanwhile
        yield _idle(session.pieces, session.cells) if session else _idle(_WELCOME, cells=())

    def _error(self, error: PyVisionError, request: gr.Request) -> list[Any]:
        session = self._sessions.find(_visitor(request))
        message = error_message(str(error))
        return [[*(session.pieces if session else _WELCOME), message], gr.skip(), gr.skip(), gr.skip()]


def _visitor(request: gr.Request) -> str:
    return str(request.session_hash)


def _idle(pieces: Pieces, cells: tuple[str, ...]) -> list[Any]:
    """The state of the page when the next question may be asked."""
    names = [f"{number}: {_first_line(code)}" for number, code in enumerate(cells, start=1)]
    cell = gr.Dropdown(choices=names, value=names[-1] if names else None)
    return [list(pieces), gr.MultimodalTextbox(interactive=True), gr.Button(interactive=False), cell]


def _first_line(code: str) -> str:
    return shorten(next((line for line in code.splitlines() if line.strip()), ""), 60)


def _add_photo(message: dict[str, Any] | None, photo: str | None) -> tuple[Any, Any]:
    """The question with the photo after its other images, and an empty camera."""
    if not photo:
        return gr.skip(), gr.skip()
    message = message or {}
    return {"text": message.get("text") or "", "files": [*(message.get("files") or ()), photo]}, None
