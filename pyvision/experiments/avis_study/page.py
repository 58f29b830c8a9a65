"""The study page: what stands where, and which of it calls what. Nothing is decided here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr

from pyvision.errors import PyVisionError
from pyvision.experiments.avis_study.annotation import MOST_THINGS, Detection, Task
from pyvision.experiments.avis_study.log import UsedTool
from pyvision.experiments.avis_study.sessions import Progress, SessionRegistry, Tab
from pyvision.experiments.avis_study.toolbox import BUTTONS, Button
from pyvision.images.fit import FitLimits, fit
from pyvision.runs.report.markup import Markup, element, join
from pyvision.types import Picture

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

    def _render(self, *about: str) -> list[Button]:
        """The deeds of these kinds whose tool is set up."""
        tool_of = self._sessions.toolbox.tool_of
        return [action for action in BUTTONS.values() if action.about in about and tool_of(action.name)]

    def _buttons(self, about: str) -> list[tuple[Button, Any]]:
        with gr.Row():
            return [
                (action, gr.Button(action.label, size="sm", min_width=100)) for action in self._render(about)
            ]

    def _detection_row(self) -> tuple[Any, Any, list[tuple[Button, Any]]]:
        with gr.Row(visible=False, elem_classes="object-row") as row:
            html = gr.HTML()
            with gr.Column(min_width=120, elem_classes="about"):
                buttons = self._buttons("object")
        return row, html, buttons

    def _box(self, action: Button) -> tuple[Button, Any, Any]:
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

    def _does(self, action: Button, detection: int | None = None) -> Callable[..., list[Any]]:
        def do(request: gr.Request) -> list[Any]:
            return self._done(action, "", detection, request)

        return do

    def _asks(self, action: Button) -> Callable[..., list[Any]]:
        def ask(query: str, request: gr.Request) -> list[Any]:
            return self._done(action, query or "", None, request)

        return ask

    def _done(self, action: Button, query: str, detection: int | None, request: gr.Request) -> list[Any]:
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


# ---- What a participant sees, as HTML: the question, its picture with numbered objects, and all that tools have said.


_WHOLE, _CROP = FitLimits(side_px=1024), FitLimits(side_px=200)


def render_question(task: Task, progress: Progress) -> Markup:
    """The question, and how many there are."""
    told = f"Question {progress.done + 1} of {progress.total}"
    broken = [element("p", f"left out: {why}", class_="facts") for why in progress.broken]
    question = element("p", task.question.full_text, class_="question")
    return element("div", element("p", told, class_="facts"), *broken, question, class_="asked")


def pictures(task: Task, detections: Sequence[Detection]) -> Markup:
    """The pictures of the question, with the objects drawn into the first one."""
    shown = [_picture(each, detections if at == 0 else ()) for at, each in enumerate(task.question.images)]
    return join(*shown) if shown else element("p", "This question has no picture.", class_="facts")


def detection_block(detection: Detection) -> Markup:
    """One object: its crop, what the detector calls it, and where it lies."""
    words = f"#{detection.number} {detection.label or 'object'}, {detection.place}"
    image = element("img", src=_address(detection.crop, _CROP), alt=words)
    return element("figure", image, element("figcaption", words), class_="thing")


def trail(used: Sequence[UsedTool]) -> Markup:
    """Everything that was done, the last first: nobody has to scroll for it."""
    if not used:
        return element("p", "What the tools say will be written here.", class_="facts")
    return element("ol", *map(_step, reversed(used)), class_="trail", reversed=True)


def complaint(text: str) -> Markup:
    """What went wrong, or what is still to be done."""
    return element("p", text, class_="bad", role="alert")


def _step(used: UsedTool) -> Markup:
    about = f" about #{used.object}" if used.object else ""
    asked_ = f": {used.query}" if used.query else ""
    head = element("p", f"{BUTTONS[used.action].label}{about}{asked_}", class_="head")
    if used.error is not None:
        return element("li", head, complaint(used.error))
    return element("li", head, element("pre", used.output or "nothing found"))


def _picture(picture: Picture, detections: Sequence[Detection]) -> Markup:
    image = element("img", src=_address(picture, _WHOLE), alt="the picture of the question")
    size = f"0 0 {picture.width} {picture.height}"
    boxes = element(
        "svg", *_boxes(picture, detections), viewBox=size, preserveAspectRatio="none", aria_hidden="true"
    )
    return element("div", image, boxes if detections else None, class_="whole")


def _boxes(picture: Picture, detections: Sequence[Detection]) -> Iterator[Markup]:
    letter = max(picture.width, picture.height) / 28
    for detection in detections:
        left, top, right, bottom = detection.box
        yield element("rect", x=left, y=top, width=right - left, height=bottom - top)
        at = {"x": left + letter / 4, "y": max(top, 0) + letter, "font-size": letter}
        yield element("text", detection.number, x=at["x"], y=at["y"], font_size=at["font-size"])


def _address(picture: Picture, limits: FitLimits) -> str:
    sent = fit(picture, limits).picture
    return f"data:{sent.mime};base64,{b64encode(sent.data).decode('ascii')}"
