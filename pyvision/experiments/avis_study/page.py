"""The study page: its layout and its event handlers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from pyvision.errors import PyVisionError
from pyvision.experiments.avis_study.annotation import MAX_DETECTIONS, Detection
from pyvision.experiments.avis_study.rendering import (
    render_detection,
    render_error,
    render_images,
    render_question,
    render_trail,
)
from pyvision.experiments.avis_study.sessions import Tab, TabRegistry
from pyvision.experiments.avis_study.toolbox import BUTTONS, Button

_WELCOME = (
    "Find the answers with the tools below the image. Every click and its result is recorded under your pseudonym; "
    "do not enter your name."
)
_FINISHED = "There are no more questions. Thank you!"
_PLACEHOLDERS = {
    "vqa": "a simple question about the image",
    "llm_qa": "a question to a language model that cannot see the image",
    "search": "words to search for",
}


class StudyPage:
    """The Blocks and their event handlers."""

    def __init__(self, sessions: TabRegistry, max_concurrent: int) -> None:
        self._sessions = sessions
        self._event_options: dict[str, Any] = {
            "concurrency_limit": max_concurrent,
            "concurrency_id": "study",
            "show_progress": "minimal",
            "api_visibility": "private",
        }
        self.blocks = self._build()

    def _build(self) -> gr.Blocks:
        with gr.Blocks(title="PyVision study", analytics_enabled=False) as blocks, gr.Column(elem_id="study"):
            gr.HTML("<h1>Study</h1>")
            self._add_components()
            self._wire_questions()
            self._wire_tools()
            blocks.unload(self.leave)
        page: gr.Blocks = blocks
        return page

    def _add_components(self) -> None:
        """All components, top to bottom; those of a question are hidden until there is one."""
        with gr.Column(elem_id="welcome") as self._welcome:
            gr.Markdown(_WELCOME)
            self._name = gr.Textbox(
                label="Pseudonym", placeholder="leave empty to get a random one", max_length=40
            )
            self._begin = gr.Button("Begin", variant="primary")
        self._message = gr.HTML("", elem_id="message")
        with gr.Column(visible=False, elem_id="session") as self._session:
            self._question = gr.HTML(elem_id="question")
            with gr.Row(equal_height=False):
                with gr.Column(scale=3, min_width=400):
                    self._image = gr.HTML(elem_id="image")
                    self._image_buttons = self._add_buttons("image")
                    self._boxes = [self._add_box(button) for button in self._list_buttons("question", "text")]
                    self._add_answer()
                    self._trail = gr.HTML(elem_id="trail")
                with gr.Column(scale=2, elem_id="objects"):
                    self._rows = [self._add_detection_row() for _ in range(MAX_DETECTIONS)]

    def _add_answer(self) -> None:
        with gr.Row(elem_id="end", equal_height=False):
            self._answer = gr.Textbox(
                label="Answer", show_label=False, placeholder="the answer", max_length=500, scale=3
            )
            self._found = gr.Button("Found the answer", variant="primary", size="sm", min_width=130)
            self._give_up = gr.Button("Couldn't find it", size="sm", min_width=130)

    def _add_buttons(self, about: str) -> list[tuple[Button, Any]]:
        with gr.Row():
            return [
                (button, gr.Button(button.label, size="sm", min_width=100))
                for button in self._list_buttons(about)
            ]

    def _add_detection_row(self) -> tuple[Any, Any, list[tuple[Button, Any]]]:
        with gr.Row(visible=False, elem_classes="object-row") as row:
            html = gr.HTML()
            with gr.Column(min_width=120, elem_classes="about"):
                buttons = self._add_buttons("object")
        return row, html, buttons

    def _add_box(self, button: Button) -> tuple[Button, Any, Any]:
        with gr.Row(elem_id=f"ask-{button.name}", equal_height=False):
            box = gr.Textbox(
                label=button.label,
                show_label=False,
                placeholder=_PLACEHOLDERS[button.name],
                max_length=2000,
                scale=4,
            )
            component = gr.Button(button.label, size="sm", scale=1, min_width=180)
        return button, box, component

    def _list_buttons(self, *about: str) -> list[Button]:
        """The buttons of these kinds whose tool is available."""
        tool_of = self._sessions.toolbox.tool_of
        return [button for button in BUTTONS.values() if button.about in about and tool_of(button.name)]

    def _wire_questions(self) -> None:
        """The events that show another question: their outputs are in the order of `_update`."""
        fixed = [
            self._welcome,
            self._session,
            self._message,
            self._question,
            self._image,
            self._trail,
            self._answer,
        ]
        fields = [box for _, box, _ in self._boxes]
        detections = [part for row, html, _ in self._rows for part in (row, html)]
        outputs = [*fixed, *fields, *detections]
        self._begin.click(self.begin, self._name, outputs, **self._event_options)
        self._name.submit(self.begin, self._name, outputs, **self._event_options)
        self._found.click(self.submit_answer, self._answer, outputs, **self._event_options)
        self._give_up.click(self.give_up, None, outputs, **self._event_options)

    def _wire_tools(self) -> None:
        outputs = [self._trail, self._message]
        for button, component in self._image_buttons:
            component.click(self._on_click(button), None, outputs, **self._event_options)
        for number, (_, _, buttons) in enumerate(self._rows, start=1):
            for button, component in buttons:
                component.click(self._on_click(button, number), None, outputs, **self._event_options)
        for button, box, component in self._boxes:
            component.click(self._on_query(button), box, outputs, **self._event_options)
            box.submit(self._on_query(button), box, outputs, **self._event_options)

    def begin(self, name: str, request: gr.Request) -> list[Any]:
        """Join under a pseudonym."""
        return self._update(lambda: self._sessions.join(_tab_id(request), name or ""))

    def submit_answer(self, answer: str, request: gr.Request) -> list[Any]:
        """Record the answer and show the next question."""
        return self._update(lambda: self._sessions.close(_tab_id(request), answer or ""))

    def give_up(self, request: gr.Request) -> list[Any]:
        """Record that no answer was found and show the next question."""
        return self._update(lambda: self._sessions.close(_tab_id(request), None))

    def leave(self, request: gr.Request) -> None:
        """The tab was closed."""
        self._sessions.leave(_tab_id(request))

    def _on_click(self, button: Button, detection: int | None = None) -> Callable[..., list[Any]]:
        def handle(request: gr.Request) -> list[Any]:
            return self._use(button, "", detection, request)

        return handle

    def _on_query(self, button: Button) -> Callable[..., list[Any]]:
        def handle(query: str, request: gr.Request) -> list[Any]:
            return self._use(button, query or "", None, request)

        return handle

    def _use(self, button: Button, query: str, detection: int | None, request: gr.Request) -> list[Any]:
        try:
            session = self._sessions.session(_tab_id(request))
            session.do(button.name, query, detection)
        except PyVisionError as error:
            return [gr.skip(), render_error(str(error))]
        return [render_trail(session.used), ""]

    def _update(self, act: Callable[[], Tab]) -> list[Any]:
        """Updates for all components after another question was assigned; if that fails, only the message changes."""
        fields = len(self._boxes)
        try:
            tab = act()
        except PyVisionError as error:
            unchanged = [gr.skip()] * (4 + fields + 2 * MAX_DETECTIONS)
            return [gr.skip(), gr.skip(), render_error(str(error)), *unchanged]
        session = tab.session
        empty = [""] * (1 + fields)
        if session is None:
            hidden = [gr.Column(visible=False), gr.Column(visible=False), render_error(_FINISHED)]
            return [*hidden, "", "", "", *empty, *_update_rows(())]
        return [
            gr.Column(visible=False),
            gr.Column(visible=True),
            render_error(f"no objects: {session.complaint}") if session.complaint else "",
            render_question(session.task, self._sessions.progress(tab.user)),
            render_images(session.task, session.detections),
            render_trail(()),
            *empty,
            *_update_rows(session.detections),
        ]


def _update_rows(detections: Sequence[Detection]) -> list[Any]:
    """Updates for the rows of objects; unused rows are hidden."""
    visible = [
        part for detection in detections for part in (gr.Row(visible=True), render_detection(detection))
    ]
    unused = [part for _ in range(MAX_DETECTIONS - len(detections)) for part in (gr.Row(visible=False), "")]
    return visible + unused


def _tab_id(request: gr.Request) -> str:
    return str(request.session_hash)
