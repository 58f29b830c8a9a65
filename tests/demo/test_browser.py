"""What a person does in a browser, and what they see."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pyvision.text.sanitize import printable
from tests.demo.conftest import Parrot, Served, Tab, opening_tabs
from tests.doubles import png
from tests.payloads import PAYLOADS

pytestmark = pytest.mark.early

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
Tabs = Callable[..., Tab]
ServedParrot = tuple[Served, Parrot]


def cell(code: str) -> str:
    return f"I try it.\n<code>\n```python\n{code}\n```\n</code>"


def boxed(answer: str) -> str:
    return f"<answer>\n\\boxed{{{answer}}}\n</answer>"


def until(is_so: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


DRAW = cell("import matplotlib.pyplot as plt\nplt.imshow(image_clue_0)\nplt.show()")


@pytest.fixture(scope="module")
def answered(parrot: ServedParrot, browser: Any) -> Iterator[Tab]:
    """A conversation about two pictures, with a figure and an answer, for tests that only look at it."""
    served, brain = parrot
    brain.scripts["What differs?"] = DRAW, boxed("the circle")
    with opening_tabs(browser) as open_tab:
        visitor = open_tab(served)
        visitor.ask("What differs?", EXAMPLES / "shapes.png", EXAMPLES / "shapes_changed.png")
        assert visitor.answer() == "the circle"
        yield visitor


def test_two_pictures_are_asked_about_and_code_figure_and_answer_are_seen(answered: Tab) -> None:
    page = answered.page
    assert page.locator("#question-1 .asked img").count() == 2
    assert "import" in page.inner_text("#question-1 .cell .code")
    answered.see_pictures()
    figure = page.locator("#question-1 .reply figure img").first
    assert figure.evaluate("image => image.naturalWidth") > 100
    assert (answered.complaints, answered.strangers) == ([], [])


def test_a_figure_opens_large_and_escape_closes_it(answered: Tab) -> None:
    summary = answered.page.locator("#question-1 .reply .zoom summary").first
    summary.press("Enter")
    assert until(lambda: (summary.bounding_box() or {"width": 0})["width"] > 1000)
    answered.page.keyboard.press("Escape")
    assert until(lambda: answered.page.locator("#conversation .zoom[open]").count() == 0)


@pytest.mark.slow
def test_a_follow_up_question_uses_the_kernel_as_it_was_left(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Keep?"] = cell("kept = image_clue_0.width"), boxed("one")
    brain.scripts["Kept?"] = cell("print('kept', kept)"), boxed("two")
    visitor = tab(served)
    visitor.ask("Keep?", EXAMPLES / "circles.png")
    assert visitor.answer(1) == "one"
    visitor.ask("Kept?")
    assert visitor.answer(2) == "two"
    assert "kept 640" in visitor.text()


def test_stop_ends_a_cell_and_the_chat_goes_on(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Wait?"] = (cell("import time\ntime.sleep(100)"),)
    brain.scripts["Next?"] = (boxed("later"),)
    visitor = tab(served)
    visitor.ask("Wait?")
    visitor.page.locator("#conversation .status.pending", has_text="Running").wait_for()
    visitor.page.get_by_role("button", name="Stop", exact=True).click()
    visitor.page.locator("#question-1 .bad", has_text="stopped").wait_for(timeout=8000)
    visitor.ask("Next?")
    assert visitor.answer(2) == "later"


def test_start_over_begins_with_a_new_kernel(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Before?"] = cell("kept = 1"), boxed("one")
    brain.scripts["After?"] = cell("print('kept' in globals())"), boxed("two")
    visitor = tab(served)
    visitor.ask("Before?")
    visitor.answer(1)
    visitor.page.get_by_role("button", name="Start over").click()
    visitor.page.locator("#question-1").wait_for(state="detached")
    visitor.ask("After?")
    assert visitor.answer(1) == "two"
    assert "False" in visitor.text()


def test_an_edited_cell_is_run_and_the_model_goes_on_from_there(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["How much?"] = cell("print(6 * 6)"), lambda seen: boxed(seen.split()[1])
    visitor = tab(served)
    visitor.ask("How much?")
    assert visitor.answer(1) == "36"
    visitor.open("Edit a cell")
    editor = visitor.page.locator(".cm-content")
    editor.wait_for()
    assert until(lambda: "6 * 6" in editor.inner_text())
    editor.fill("print(7 * 7)")
    visitor.page.get_by_role("button", name="Run and continue").click()
    assert visitor.answer(2) == "49"


@pytest.mark.slow
def test_two_visitors_share_nothing(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Mine?"] = cell("secret = 'mine'"), boxed("one")
    brain.scripts["Yours?"] = cell("print('secret' in globals())"), boxed("two")
    first, second = tab(served), tab(served)
    first.ask("Mine?")
    assert first.answer() == "one"
    second.ask("Yours?")
    assert second.answer() == "two"
    assert "False" in second.text()
    assert "Mine?" not in second.text()


@pytest.mark.slow
def test_the_kernel_ends_with_the_tab(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    named = "import ctypes\nctypes.CDLL(None).prctl(15, b'mine-alone')"  # PR_SET_NAME
    brain.scripts["Run?"] = cell(named), boxed("one")
    visitor = tab(served)
    visitor.ask("Run?")
    visitor.answer()
    assert served.is_running("mine-alone")
    visitor.page.close()
    assert until(lambda: not served.is_running("mine-alone"))


def test_the_downloads_are_there_once_there_is_an_answer(answered: Tab) -> None:
    for name, ending in (("Report", ".html"), ("Notebook", ".zip"), ("Trajectory", ".zip")):
        button = answered.page.locator("button:enabled, a", has_text=name).first
        button.wait_for()
        with answered.page.expect_download() as download:
            button.click()
        assert str(download.value.suggested_filename).endswith(ending)


@pytest.mark.slow
def test_a_file_that_is_no_picture_is_refused_in_one_line(
    parrot: ServedParrot, tab: Tabs, tmp_path: Path
) -> None:
    served, _ = parrot
    (tmp_path / "note.png").write_text("no picture")
    visitor = tab(served)
    visitor.ask("What is it?", tmp_path / "note.png")
    visitor.page.locator("#conversation .bad", has_text="note.png").wait_for()


def test_it_is_readable_on_a_telephone(answered: Tab) -> None:
    width = "document.documentElement.scrollWidth"
    before = answered.page.viewport_size
    answered.page.set_viewport_size({"width": 375, "height": 900})
    try:
        answered.see_pictures()
        assert until(lambda: answered.page.evaluate(width) <= 375)
    finally:
        answered.page.set_viewport_size(before)


def test_it_follows_a_dark_system(parrot: ServedParrot, tab: Tabs) -> None:
    served, _ = parrot
    visitor = tab(served, color_scheme="dark")
    visitor.page.wait_for_function(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).every(part => part < 60)"
    )


def test_every_control_has_a_name_for_a_screen_reader(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["How many?"] = DRAW, boxed("7")
    visitor = tab(served)
    for title in ("Take a photo", "Strategy and model", "Edit a cell"):
        visitor.open(title)
    visitor.page.get_by_role("button", name="Access Webcam").wait_for()  # loaded when it is first seen
    visitor.page.locator(".cm-content").wait_for()  # the editor
    assert unnamed_controls(visitor) == []
    visitor.ask("How many?", EXAMPLES / "circles.png")
    visitor.answer()
    figure = visitor.page.get_by_role("img", name="image_clue_1,")
    visitor.page.locator("#conversation summary", has=figure).wait_for()
    assert unnamed_controls(visitor) == []


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["button", "input", "summary"])
def test_a_control_without_a_name_would_be_found(parrot: ServedParrot, tab: Tabs, tag: str) -> None:
    served, _ = parrot
    visitor = tab(served)
    visitor.page.evaluate(
        "tag => document.body.insertAdjacentHTML('beforeend', `<details open><${tag}>`)", tag
    )
    assert unnamed_controls(visitor, seconds=1) != []


def unnamed_controls(visitor: Tab, seconds: float = 30) -> list[str]:
    """Kinds of controls that get no name, however long they are given for it."""
    until(lambda: not visitor.unnamed_controls(), seconds)
    return visitor.unnamed_controls()


def test_whatever_a_person_a_model_or_a_cell_writes_is_text(
    parrot: ServedParrot, tab: Tabs, tmp_path: Path
) -> None:
    served, brain = parrot
    payload = "\n".join(PAYLOADS)
    brain.scripts["Show them?"] = (
        f"{payload}\n{cell(f'print({payload!r})')}",
        cell(f"raise ValueError({payload!r})"),
        boxed("<img src=x onerror=alert(1)>"),
    )
    named = tmp_path / "<img src=x onerror=alert(1)>.png"
    named.write_bytes(png())
    visitor = tab(served)
    visitor.ask("Show them?", named)
    assert visitor.answer() == "<img src=x onerror=alert(1)>"
    visitor.see_pictures()
    assert "<script>alert(1)</script>" in visitor.text()
    assert "<iframe src=javascript:alert(1)></iframe>" in visitor.text()
    foreign = "script, iframe, object, embed, base, meta, link, style, form, video, math, a, h1, b:not(figcaption b)"
    assert visitor.page.locator("#conversation").locator(foreign).count() == 0
    assert visitor.page.locator("#conversation img:not([src*='gradio_api/file='])").count() == 0
    assert (visitor.complaints, visitor.strangers) == ([], [])


@pytest.mark.slow
def test_a_hostile_question_is_text_too(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts[" ".join(printable(payload) for payload in PAYLOADS)] = (boxed("1"),)
    visitor = tab(served)
    visitor.ask(" ".join(printable(payload) for payload in PAYLOADS))
    visitor.page.locator("#question-1 .facts").last.wait_for()
    assert visitor.page.locator("#conversation").locator("script, iframe, img, a, svg, form, h1").count() == 0
    assert (visitor.complaints, visitor.strangers) == ([], [])
