"""What participants do and see in a browser, and the graph induced from their log."""

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
from pyvision.strategies.avis.transition_graph import load_graph
from tests.experiments.avis_study.doubles import make_closed, make_dataset, make_opened
from tests.experiments.avis_study.served import HOSTILE
from tests.sandbox.processes import wait_until

ROOT = Path(__file__).resolve().parents[3]
Pages = Callable[[str], Any]


@contextmanager
def serving(data_set: Path, log: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.experiments.avis_study.served", str(data_set), str(log)]
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(log.parent / "uploads")}
    with (
        log.with_suffix(".err").open("w") as stderr,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=ROOT, env=environment
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
    """Opens a page as a new participant; its errors fail the test."""
    contexts, errors = [], []

    def dismiss(dialog: Any) -> None:
        errors.append(dialog.message)
        dialog.dismiss()

    def open_page(url: str) -> Any:
        context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(90_000)  # for a busy machine
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", dismiss)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def begin(page: Any, name: str) -> None:
    page.get_by_label("Pseudonym").fill(name)
    page.get_by_role("button", name="Begin").click()
    page.locator("#question .question").wait_for()


def press(page: Any, name: str, steps: int, *, row: int = 0) -> None:
    """Press a button and wait until so many steps are listed. row: of the object, from 0."""
    page.get_by_role("button", name=name, exact=True).nth(row).click()
    page.wait_for_function(f"document.querySelectorAll('#trail li').length === {steps}")


def search(page: Any, query: str, steps: int) -> None:
    page.locator("#ask-search textarea, #ask-search input").fill(query)
    press(page, "Search", steps)


def wait_for_question(page: Any, text: str) -> None:
    page.locator("#question .question", has_text=text).wait_for()


@pytest.mark.slow
def test_a_graph_is_induced_from_a_recorded_session(
    tmp_path: Path, pages: Pages, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    with serving(make_dataset(tmp_path, "When was it built?", "Who lives there?"), log) as url:
        page = pages(url)
        begin(page, "wren")
        press(page, "Caption", 1)
        press(page, "Similar images", 2, row=1)
        search(page, "tower of Velt", 3)
        page.get_by_label("Answer").fill("1664")
        page.get_by_role("button", name="Found the answer").click()
        wait_for_question(page, "Who lives there?")
        search(page, "people of Velt", 1)
        page.get_by_role("button", name="Couldn't find it").click()
        page.get_by_text("There are no more questions").wait_for()

    assert main(["avis", "induce", str(log), "--out", str(tmp_path / "induced")]) == 0
    output = capsys.readouterr().out
    assert "1 trajectories used, 1 skipped" in output
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
def study_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A study of six questions, the first of which was answered before the server started."""
    folder = tmp_path_factory.mktemp("study")
    with Log(folder / "log.jsonl") as log:
        log.add(make_opened())
        log.add(make_closed())
    questions = [f"question number {number}?" for number in range(1, 7)]
    with serving(make_dataset(folder, *questions), folder / "log.jsonl") as url:
        yield url


@pytest.mark.slow
def test_an_answered_question_is_not_asked_again(study_url: str, pages: Pages) -> None:
    page = pages(study_url)
    begin(page, "wren")
    assert "number 1?" not in page.inner_text("#question")
    assert "Question 2 of 6" in page.inner_text("#question")


def test_the_page_shows_an_error_then_works_again(study_url: str, pages: Pages) -> None:
    page = pages(study_url)
    begin(page, "")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator("#message", has_text="the text is empty").wait_for()
    page.locator("#ask-vqa textarea, #ask-vqa input").fill("how many?")
    press(page, "Ask about the image", 1)
    assert "the service is down" in page.inner_text("#trail")
    page.get_by_role("button", name="Found the answer").click()
    page.locator("#message", has_text="the answer is empty").wait_for()
    press(page, "What is it?", 2)
    assert "Tower of Velt" in page.inner_text("#trail")
    assert page.get_by_role("button", name="Text on it").count() == 0  # no tool reads text here


@pytest.mark.slow
def test_a_question_belongs_to_one_tab_until_it_is_closed(study_url: str, pages: Pages) -> None:
    one, other = pages(study_url), pages(study_url)
    begin(one, "wren")
    begin(other, "finch")
    first = one.inner_text("#question .question")
    assert first != other.inner_text("#question .question")
    one.close()
    assert wait_until(lambda: question_of_a_new_participant(study_url, pages) == first)


def question_of_a_new_participant(url: str, pages: Pages) -> str:
    """Read it, and close the page."""
    page = pages(url)
    begin(page, "robin")
    text = str(page.inner_text("#question .question"))
    page.close()
    return text
