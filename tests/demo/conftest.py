"""A served demo, and a browser that looks at it. Both are processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.processes import descendants, name_of
from tests.servers.conversation import Request
from tests.servers.server import ModelServer

EXAMPLE = "How many circles are in the image?"  # one that the page offers
_CONTROLS = (
    *("button", "checkbox", "combobox", "link", "listbox", "menuitem", "option", "radio"),
    *("searchbox", "slider", "spinbutton", "switch", "tab", "textbox"),
)  # ARIA roles; `summary`, which has none, is looked for by its tag
_EMPTY = re.compile(r"^\s*$")
_QUESTION = re.compile(r"<question>\s*(.*?)\s*</question>", re.DOTALL)


@dataclass
class Served:
    """A demo under this address; `pid` is of its process."""

    url: str
    pid: int
    out: Path

    def is_running(self, name: str) -> bool:
        """Whether a process below it has this name, as a cell may give it to its kernel."""
        return name in map(name_of, descendants(self.pid))


@contextmanager
def serving(folder: Path, *flags: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "pyvision", "demo", "--port", "0", "--out", str(folder / "out"), *flags]
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(folder / "uploads")}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as process,
    ):
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            assert url, (folder / "log").read_text()
            yield Served(url, process.pid, folder / "out")
        finally:
            process.send_signal(signal.SIGTERM)  # in the background of a shell, SIGINT is ignored from birth
            process.wait(60)


class Parrot:
    """What the model says to each question, by its text: the n-th entry is its n-th reply, or makes one."""

    def __init__(self) -> None:
        self.scripts: dict[str, tuple[str | Callable[[str], str], ...]] = {}

    def __call__(self, request: Request) -> str:
        asked = [at for at, turn in enumerate(request.turns) if _QUESTION.search(turn.text)][-1]
        question = _QUESTION.search(request.turns[asked].text)
        assert question is not None
        replies = sum(turn.role == "assistant" for turn in request.turns[asked:])
        reply = self.scripts[question[1]][replies]
        return reply if isinstance(reply, str) else reply(request.turns[-1].text)


@pytest.fixture(scope="module")
def parrot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Parrot]]:
    """A demo whose model replies by script."""
    folder, brain = tmp_path_factory.mktemp("demo"), Parrot()
    with ModelServer(brain) as server:
        config = {"wire": "openai", "model": "parrot", "base_url": server.base_url, "api_key": "none"}
        (folder / "model.json").write_text(json.dumps(config), encoding="utf-8")
        with serving(folder, "--config", str(folder / "model.json")) as served:
            yield served, brain


@dataclass
class Tab:
    """A page of the demo, with what a person does on it; and what must not happen while they do."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def ask(self, text: str, *files: Path) -> None:
        if files:
            self.page.set_input_files("#chat-file", [str(file) for file in files])
        box = self.page.locator("#chat-box")
        box.fill(text)
        box.press("Enter")

    def answer(self, number: int = 1) -> str:
        """The answer to question `number`, once it is there and the next may be asked: nothing more is drawn."""
        found = self.page.locator(f"#question-{number} .chat-answer")
        found.wait_for()
        self.page.locator("#chat[data-running=false]").wait_for()
        return str(found.inner_text())

    def see_pictures(self) -> None:
        """Look at every picture of the conversation, and wait until all of it is there:
        they load as they come into view.
        """
        self.unfold()
        for picture in self.page.locator("#chat-exchanges figure img").all():
            picture.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "[...document.querySelectorAll('#chat-exchanges figure img')]"
            ".every(image => image.complete && image.naturalWidth)"
        )

    def is_inside(self, selector: str) -> bool:
        """Whether all of this element is inside the window."""
        box = self.page.locator(selector).bounding_box()
        size = self.page.viewport_size
        return bool(box) and box["y"] >= 0 and box["y"] + box["height"] <= size["height"]

    def unfold(self) -> None:
        """Open every cell."""
        self.page.evaluate(
            "document.querySelectorAll('#chat-exchanges details').forEach(details => { details.open = true; })"
        )

    def unnamed_controls(self) -> list[str]:
        """The role, or tag, of each kind of visible control of which one has no accessible name.

        Playwright computes role and name in a script. The accessibility tree of chromium itself is never asked for:
        building it while the page changes can crash the renderer.
        """
        roles = [role for role in _CONTROLS if self.page.get_by_role(role, name=_EMPTY).count()]
        image = self.page.get_by_role("img", name=re.compile(r"\S"))
        summary = self.page.locator("summary:visible").filter(has_not=image, has_not_text=re.compile(r"\S"))
        return [*roles, *(["summary"] if summary.count() else [])]

    def text(self) -> str:
        """What the conversation says, with its cells open."""
        self.unfold()
        return str(self.page.inner_text("#chat-exchanges"))


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    with opening_tabs(browser) as open_tab:
        yield open_tab


@contextmanager
def opening_tabs(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Opens tabs of visitors who know nothing of each other."""
    contexts = []

    def open_tab(served: Served, *, width: int = 1100, height: int = 900, **options: Any) -> Tab:
        screen = {"width": width, "height": height}
        context = browser.new_context(viewport=screen, reduced_motion="reduce", **options)
        context.set_default_timeout(90_000)  # for a busy machine
        contexts.append(context)
        tab = Tab(context.new_page())
        _listen(tab)
        tab.page.goto(served.url)
        tab.page.get_by_role("button", name=EXAMPLE).wait_for()  # what is drawn last
        return tab

    yield open_tab
    for context in contexts:
        context.close()


def _listen(tab: Tab) -> None:
    def complain(what: object) -> None:
        tab.complaints.append(str(what))

    def dismiss(dialog: Any) -> None:
        complain(dialog.message)
        dialog.dismiss()

    def look(request: Any) -> None:
        if _is_strange(request.url):
            tab.strangers.append(request.url)

    tab.page.on("console", lambda message: complain(message.text) if message.type == "error" else None)
    tab.page.on("pageerror", complain)
    tab.page.on("dialog", dismiss)
    tab.page.on("request", look)


def _is_strange(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))
