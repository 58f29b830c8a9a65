"""The study page: what stands where, and which of it calls what. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from pyvision.errors import PyVisionError
from pyvision.experiments.avis_study.actions import ACTIONS, Action
from pyvision.experiments.avis_study.detections import MOST_THINGS, Detection
from pyvision.experiments.avis_study.sessions import SessionRegistry, Tab
from pyvision.experiments.avis_study.view import complaint, detection_block, pictures, render_question, trail

_WELCOME = (
    "Find the answers with the tools below the picture. Every click and what comes of it is recorded under your "
    "pseudonym; do not give your name."
)
_OVER = "There is no question left. Thank you!"
_BOXES = {
    "vqa": "a simple question about the picture",
    "llm_qa": "a question to a language model, which sees no picture",
    "search": "words to search for",
}


class Page:
    """The Blocks, and the handlers of their events."""

    def __init__(self, sessions: SessionRegistry, at_once: int) -> None:
        self._sessions = sessions
        self._usual: dict[str, Any] = {
            "concurrency_limit": at_once,
            "concurrency_id": "study",
            "show_progress": "minimal",
            "api_visibility": "private",
        }
        self.blocks = self._build()

    def _build(self) -> gr.Blocks:
        with gr.Blocks(title="PyVision study", analytics_enabled=False) as blocks, gr.Column(elem_id="study"):
            gr.HTML("<h1>Study</h1>")
            self._place()
            self._wire_ends()
            self._wire_actions()
            blocks.unload(self.leave)
        page: gr.Blocks = blocks
        return page

    def _place(self) -> None:
        """Everything that there is, from the top; what belongs to a question is hidden until there is one."""
        with gr.Column(elem_id="welcome") as self._welcome:
            gr.Markdown(_WELCOME)
            self._name = gr.Textbox(label="Pseudonym", placeholder="empty: one is made up", max_length=40)
            self._begin = gr.Button("Begin", variant="primary")
        self._said = gr.HTML("", elem_id="said")
        with gr.Column(visible=False, elem_id="desk") as self._session:
            self._question = gr.HTML(elem_id="question")
            with gr.Row(equal_height=False):
                with gr.Column(scale=3, min_width=400):
                    self._picture = gr.HTML(elem_id="picture")
                    self._whole = self._buttons("picture")
                    self._boxes = [self._box(action) for action in self._render("question", "text")]
                    self._place_end()
                    self._seen = gr.HTML(elem_id="trail")
                with gr.Column(scale=2, elem_id="objects"):
                    self._rows = [self._detection_row() for _ in range(MOST_THINGS)]

    def _place_end(self) -> None:
        with gr.Row(elem_id="end", equal_height=False):
            self._answer = gr.Textbox(
                label="Answer", show_label=False, placeholder="the answer", max_length=500, scale=3
            )
            self._found = gr.Button("Found the answer", variant="primary", size="sm", min_width=130)
            self._lost = gr.Button("Couldn't find it", size="sm", min_width=130)

    def _wire_ends(self) -> None:
        """What puts another question on the desk: its outputs are in the order of `_scene`."""
        fixed = [
            self._welcome,
            self._session,
            self._said,
            self._question,
            self._picture,
            self._seen,
            self._answer,
        ]
        fields = [box for _, box, _ in self._boxes]
        detections = [part for row, html, _ in self._rows for part in (row, html)]
        scene = [*fixed, *fields, *detections]
        self._begin.click(self.begin, self._name, scene, **self._usual)
        self._name.submit(self.begin, self._name, scene, **self._usual)
        self._found.click(self.found, self._answer, scene, **self._usual)
        self._lost.click(self.lost, None, scene, **self._usual)

    def _wire_actions(self) -> None:
        shown = [self._seen, self._said]
        for action, button in self._whole:
            button.click(self._does(action), None, shown, **self._usual)
        for number, (_, _, buttons) in enumerate(self._rows, start=1):
            for action, button in buttons:
                button.click(self._does(action, number), None, shown, **self._usual)
        for action, box, button in self._boxes:
            button.click(self._asks(action), box, shown, **self._usual)
            box.submit(self._asks(action), box, shown, **self._usual)

    def begin(self, name: str, request: gr.Request) -> list[Any]:
        """Sit down under a pseudonym."""
        return self._scene(lambda: self._sessions.sit(_visitor(request), name or ""))

    def found(self, answer: str, request: gr.Request) -> list[Any]:
        """The answer is found: on to the next question."""
        return self._scene(lambda: self._sessions.close(_visitor(request), answer or ""))

    def lost(self, request: gr.Request) -> list[Any]:
        """It is not, and is not looked for any longer."""
        return self._scene(lambda: self._sessions.close(_visitor(request), None))

    def leave(self, request: gr.Request) -> None:
        """The tab was closed."""
        self._sessions.leave(_visitor(request))

    def _render(self, *about: str) -> list[Action]:
        """The deeds of these kinds whose tool is set up."""
        tool_of = self._sessions.toolbox.tool_of
        return [action for action in ACTIONS.values() if action.about in about and tool_of(action.name)]

    def _buttons(self, about: str) -> list[tuple[Action, Any]]:
        with gr.Row():
            return [
                (action, gr.Button(action.label, size="sm", min_width=100)) for action in self._render(about)
            ]

    def _detection_row(self) -> tuple[Any, Any, list[tuple[Action, Any]]]:
        with gr.Row(visible=False, elem_classes="object-row") as row:
            html = gr.HTML()
            with gr.Column(min_width=120, elem_classes="about"):
                buttons = self._buttons("object")
        return row, html, buttons

    def _box(self, action: Action) -> tuple[Action, Any, Any]:
        with gr.Row(elem_id=f"ask-{action.name}", equal_height=False):
            box = gr.Textbox(
                label=action.label,
                show_label=False,
                placeholder=_BOXES[action.name],
                max_length=2000,
                scale=4,
            )
            button = gr.Button(action.label, size="sm", scale=1, min_width=180)
        return action, box, button

    def _does(self, action: Action, detection: int | None = None) -> Callable[..., list[Any]]:
        def do(request: gr.Request) -> list[Any]:
            return self._done(action, "", detection, request)

        return do

    def _asks(self, action: Action) -> Callable[..., list[Any]]:
        def ask(query: str, request: gr.Request) -> list[Any]:
            return self._done(action, query or "", None, request)

        return ask

    def _done(self, action: Action, query: str, detection: int | None, request: gr.Request) -> list[Any]:
        try:
            session = self._sessions.session(_visitor(request))
            session.do(action.name, query, detection)
        except PyVisionError as error:
            return [gr.skip(), complaint(str(error))]
        return [trail(session.used), ""]

    def _scene(self, act: Callable[[], Tab]) -> list[Any]:
        """What is to be seen after a question was put on the desk; everything stays where that failed."""
        fields = len(self._boxes)
        try:
            tab = act()
        except PyVisionError as error:
            return [
                gr.skip(),
                gr.skip(),
                complaint(str(error)),
                *[gr.skip()] * (4 + fields + 2 * MOST_THINGS),
            ]
        session = tab.session
        empty = [""] * (1 + fields)
        if session is None:
            hidden = [gr.Column(visible=False), gr.Column(visible=False), complaint(_OVER)]
            return [*hidden, "", "", "", *empty, *_detections(())]
        return [
            gr.Column(visible=False),
            gr.Column(visible=True),
            complaint(f"no objects: {session.complaint}") if session.complaint else "",
            render_question(session.task, self._sessions.progress(tab.user)),
            pictures(session.task, session.detections),
            trail(()),
            *empty,
            *_detections(session.detections),
        ]


def _detections(detections: Sequence[Detection]) -> list[Any]:
    """Updates for every row of objects: those that there are, and the others hidden."""
    shown = [part for detection in detections for part in (gr.Row(visible=True), detection_block(detection))]
    empty = [part for _ in range(MOST_THINGS - len(detections)) for part in (gr.Row(visible=False), "")]
    return shown + empty


def _visitor(request: gr.Request) -> str:
    return str(request.session_hash)
