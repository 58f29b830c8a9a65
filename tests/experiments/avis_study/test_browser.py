"""What a participant does in a browser, what they see of it, and what is learnt from it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pyvision.cli import main
from pyvision.experiments.avis_study.log import Log, read_log
from pyvision.strategies.avis.graph import load_graph
from tests.demo.test_browser import until
from tests.experiments.avis_study.doubles import a_data_set, closed, opened
from tests.experiments.avis_study.served import HOSTILE

ROOT = Path(__file__).resolve().parents[3]
Pages = Callable[[str], Any]


@contextmanager
def serving(data_set: Path, log: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.experiments.avis_study.served", str(data_set), str(log)]
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(log.parent / "uploads")}
    with (
        log.with_suffix(".err").open("w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT, env=environment
        ) as process,
    ):
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url, log.with_suffix(".err").read_text()
            yield url
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    """Opens a page of a new visitor; complaints of it fail the test."""
    contexts, complaints = [], []

    def dismiss(dialog: Any) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    def open_page(url: str) -> Any:
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", dismiss)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def begin(page: Any, name: str) -> None:
    page.get_by_label("Pseudonym").fill(name)
    page.get_by_role("button", name="Begin").click()
    page.locator("#question .question").wait_for()


def press(page: Any, name: str, steps: int, *, row: int = 0) -> None:
    """A button, and wait until so many steps are told. row: of the object, from 0."""
    page.get_by_role("button", name=name, exact=True).nth(row).click()
    page.wait_for_function(f"document.querySelectorAll('#trail li').length === {steps}")


def search(page: Any, words: str, steps: int) -> None:
    page.locator("#ask-search textarea, #ask-search input").fill(words)
    press(page, "Search", steps)


def wait_for_question(page: Any, text: str) -> None:
    page.locator("#question .question", has_text=text).wait_for()


@pytest.mark.slow
def test_a_graph_is_induced_from_a_session_that_was_recorded(
    tmp_path: Path, pages: Pages, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    with serving(a_data_set(tmp_path, "When was it built?", "Who lives there?"), log) as url:
        page = pages(url)
        begin(page, "wren")
        press(page, "Caption", 1)
        press(page, "Similar pictures", 2, row=1)
        search(page, "tower of Velt", 3)
        page.get_by_label("Answer").fill("1664")
        page.get_by_role("button", name="Found the answer").click()
        wait_for_question(page, "Who lives there?")
        search(page, "people of Velt", 1)
        page.get_by_role("button", name="Couldn't find it").click()
        page.get_by_text("There is no question left").wait_for()

    assert main(["avis", "induce", str(log), "--out", str(tmp_path / "induced")]) == 0
    told = capsys.readouterr().out
    assert "1 courses used, 1 left out" in told
    assert load_graph(tmp_path / "induced" / "graph.json").successors == {
        "START": ("object_select",),
        "object_select": ("image_search",),
        "image_search": ("web_search",),
        "web_search": (),
    }
    first, second = read_log(log).attempts
    assert [(each.action, each.object, each.query) for each in first.used] == [
        ("caption", None, ""),
        ("similar", 2, ""),
        ("search", None, "tower of Velt"),
    ]
    assert first.used[1].output == HOSTILE
    assert first.closed is not None
    assert second.closed is not None
    assert (first.closed.answer, second.closed.is_found, first.opened.user) == ("1664", False, "wren")
    assert b"secret truth" not in log.read_bytes()


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A study of six questions, the first of which was answered before the server came up."""
    folder = tmp_path_factory.mktemp("study")
    with Log(folder / "log.jsonl") as log:
        log.add(opened())
        log.add(closed())
    questions = [f"question number {number}?" for number in range(1, 7)]
    with serving(a_data_set(folder, *questions), folder / "log.jsonl") as url:
        yield url


@pytest.mark.slow
def test_a_question_that_was_answered_before_is_not_asked_again(resumed: str, pages: Pages) -> None:
    page = pages(resumed)
    begin(page, "wren")
    assert "number 1?" not in page.inner_text("#question")
    assert "Question 2 of 6" in page.inner_text("#question")


def test_what_went_wrong_is_seen_and_the_page_goes_on(resumed: str, pages: Pages) -> None:
    page = pages(resumed)
    begin(page, "")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator("#said", has_text="nothing is asked").wait_for()
    page.locator("#ask-vqa textarea, #ask-vqa input").fill("how many?")
    press(page, "Ask about the picture", 1)
    assert "the service is down" in page.inner_text("#trail")
    page.get_by_role("button", name="Found the answer").click()
    page.locator("#said", has_text="the answer is empty").wait_for()
    press(page, "What is it?", 2)
    assert "Tower of Velt" in page.inner_text("#trail")
    assert page.get_by_role("button", name="Text on it").count() == 0  # no tool reads text here


@pytest.mark.slow
def test_a_question_is_on_one_desk_at_a_time_and_comes_back_with_a_closed_tab(
    resumed: str, pages: Pages
) -> None:
    one, other = pages(resumed), pages(resumed)
    begin(one, "wren")
    begin(other, "finch")
    left = one.inner_text("#question .question")
    assert left != other.inner_text("#question .question")
    one.close()
    assert until(lambda: question_of_a_new_visitor(resumed, pages) == left)


def question_of_a_new_visitor(url: str, pages: Pages) -> str:
    """Looked at, and left again."""
    page = pages(url)
    begin(page, "robin")
    text = str(page.inner_text("#question .question"))
    page.close()
    return text
