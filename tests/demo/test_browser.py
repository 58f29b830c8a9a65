"""What a person does in a browser, and what they see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pyvision.text.sanitize import printable
from tests.demo.conftest import EXAMPLE, Parrot, Served, Tab, opening_tabs
from tests.doubles import png
from tests.payloads import PAYLOADS
from tests.sandbox.processes import wait_until

pytestmark = pytest.mark.early

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
Tabs = Callable[..., Tab]
ServedParrot = tuple[Served, Parrot]


def cell(code: str) -> str:
    return f"I try it.\n<code>\n```python\n{code}\n```\n</code>"


def boxed(answer: str) -> str:
    return f"<answer>\n\\boxed{{{answer}}}\n</answer>"


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


def test_the_whole_work_on_two_pictures_is_seen(answered: Tab) -> None:
    page = answered.page
    assert page.locator("#question-1 .chat-asked img").count() == 2
    answered.see_pictures()
    assert "import" in page.inner_text("#question-1 .chat-cell .code")
    figure = page.locator("#question-1 .chat-reply figure img").first
    assert figure.evaluate("image => image.naturalWidth") > 100
    assert (answered.complaints, answered.strangers) == ([], [])


def test_a_cell_is_one_line_until_it_is_clicked(answered: Tab) -> None:
    cell = answered.page.locator("#question-1 .chat-cell").first
    cell.evaluate("cell => { cell.open = false; }")
    assert cell.bounding_box()["height"] < 60
    cell.locator("summary").click()
    assert cell.locator(".code").is_visible()


@pytest.mark.parametrize("part", [".chat-asked", ".chat-reply"])
def test_an_image_opens_large_until_escape(answered: Tab, part: str) -> None:
    answered.unfold()
    answered.page.locator(f"#question-1 {part} .chat-image").first.press("Enter")
    large = answered.page.locator("#chat-large[open] img")
    assert wait_until(lambda: large.count() == 1 and large.evaluate("image => image.naturalWidth") > 100)
    answered.page.keyboard.press("Escape")
    assert wait_until(lambda: answered.page.locator("#chat-large[open]").count() == 0)


def test_an_answer_is_inside_the_window_when_it_arrives(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Long?"] = *[f"step {number}\n\n{DRAW}" for number in range(3)], boxed("seen")
    visitor = tab(served, height=500)
    visitor.ask("Long?", EXAMPLES / "circles.png")
    assert visitor.answer() == "seen"
    assert visitor.is_inside(".chat-answer")
    assert visitor.is_inside("#chat-box")


def test_a_page_that_was_scrolled_up_stays_there(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Fill?"] = ("word " * 2000 + boxed("full"),)
    brain.scripts["Slow?"] = cell("import time\ntime.sleep(1.5)"), boxed("late")
    visitor = tab(served, height=500)
    visitor.ask("Fill?")
    visitor.answer()
    visitor.ask("Slow?")
    visitor.page.locator("#question-2 .chat-pending", has_text="Running").wait_for()
    visitor.page.locator("#chat-scroll").hover()
    visitor.page.mouse.wheel(0, -5000)
    visitor.answer(2)
    assert visitor.page.locator("#chat-scroll").evaluate("scroll => scroll.scrollTop") == 0
    visitor.page.get_by_role("button", name="↓ Answer").click()
    assert wait_until(lambda: visitor.is_inside("#question-2 .chat-answer"))


@contextmanager
def before_scripts(browser: Any, url: str) -> Iterator[Any]:
    """The page while a script of gradio has not come yet; it comes at the end of the block."""
    page = browser.new_page()
    held: list[Any] = []
    page.route("**/assets/Blocks-*.js", lambda route: held.append(route))  # noqa: PLW0108 - needs a signature
    page.goto(url, wait_until="commit")
    page.locator("#chat-early .with-list").wait_for()  # what our own script does last but one
    yield page
    assert wait_until(lambda: bool(page.wait_for_timeout(20) or held))
    held[0].continue_()


@pytest.mark.slow
def test_text_typed_before_the_scripts_have_loaded_stays(parrot: ServedParrot, browser: Any) -> None:
    with before_scripts(browser, parrot[0].url) as page:
        page.locator("#chat-early #chat-box").press_sequentially("How many")
    page.get_by_role("button", name=EXAMPLE).wait_for()
    page.keyboard.type(" circles?")
    assert page.locator("#chat-box").input_value() == "How many circles?"
    page.close()


def test_a_question_entered_before_the_scripts_have_loaded_is_sent(
    parrot: ServedParrot, browser: Any
) -> None:
    served, brain = parrot
    brain.scripts["Early?"] = (boxed("early"),)
    with before_scripts(browser, served.url) as page:
        page.locator("#chat-early #chat-box").fill("Early?")
        page.keyboard.press("Enter")
    page.locator("#question-1 .chat-answer", has_text="early").wait_for()
    page.close()


def test_send_becomes_stop_which_ends_a_cell(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Wait?"] = (cell("import time\nprint('so far', flush=True)\ntime.sleep(100)"),)
    brain.scripts["Next?"] = (boxed("later"),)
    visitor = tab(served)
    visitor.ask("Wait?")
    visitor.page.locator("#question-1 .live", has_text="so far").wait_for()
    visitor.page.get_by_role("button", name="Stop", exact=True).click()
    visitor.page.locator("#question-1 .bad", has_text="stopped").wait_for(timeout=8000)
    visitor.page.get_by_role("button", name="Send", exact=True).wait_for()
    visitor.ask("Next?")
    assert visitor.answer(2) == "later"


def test_an_edited_cell_is_run_in_its_place(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["How much?"] = cell("print(6 * 6)"), lambda seen: boxed(seen.split()[1])
    visitor = tab(served)
    visitor.ask("How much?")
    assert visitor.answer(1) == "36"
    visitor.unfold()
    visitor.page.get_by_role("button", name="Edit", exact=True).last.click()
    editor = visitor.page.get_by_role("textbox", name="Code of the cell")
    assert "6 * 6" in editor.input_value()
    editor.fill("print(7 * 7)")
    editor.press("Control+Enter")
    visitor.page.locator(".chat-answer", has_text="49").wait_for()
    assert visitor.page.locator(".chat-exchange").count() == 1
    assert "6 * 6" not in visitor.text()


def test_a_conversation_survives_a_reload_while_it_is_answered(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Still?"] = cell("import time\ntime.sleep(1.5)"), boxed("there")
    visitor = tab(served)
    visitor.ask("Still?")
    visitor.page.locator("#question-1 .chat-pending", has_text="Running").wait_for()
    visitor.page.reload()
    assert visitor.answer() == "there"


def test_the_question_box_has_the_focus_after_an_example(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts[EXAMPLE] = (boxed("7"),)
    visitor = tab(served)
    visitor.page.get_by_role("button", name=EXAMPLE).click()
    visitor.answer()
    assert visitor.page.evaluate("document.activeElement.id") == "chat-box"


def test_an_earlier_conversation_is_opened_from_the_list(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Earlier?"] = (boxed("one"),)
    brain.scripts["Later?"] = (boxed("two"),)
    visitor = tab(served)
    visitor.ask("Earlier?")
    visitor.answer()
    visitor.page.get_by_role("button", name="New chat").click()
    visitor.ask("Later?")
    visitor.page.locator(".chat-answer", has_text="two").wait_for()
    visitor.page.get_by_role("button", name="Earlier?", exact=True).click()
    visitor.page.locator(".chat-answer", has_text="one").wait_for()


def image_as(event: str, target: str, field: str) -> str:
    """A script that hands a small image to the page as the browser does for `event`."""
    return f"""async () => {{
        const canvas = Object.assign(document.createElement('canvas'), {{ width: 30, height: 20 }});
        canvas.getContext('2d');
        const blob = await new Promise(made => canvas.toBlob(made));
        const data = new DataTransfer();
        data.items.add(new File([blob], 'drawn.png', {{ type: 'image/png' }}));
        const event = new {event}, {{ {field}: data, bubbles: true, cancelable: true }});
        {target}.dispatchEvent(event);
    }}"""


@pytest.mark.parametrize(
    "event",
    [
        image_as("ClipboardEvent('paste'", "document.querySelector('#chat-box')", "clipboardData"),
        image_as("DragEvent('drop'", "document.querySelector('#chat-scroll')", "dataTransfer"),
    ],
    ids=["paste", "drop"],
)
def test_an_image_is_attached_from_outside(parrot: ServedParrot, tab: Tabs, event: str) -> None:
    served, brain = parrot
    brain.scripts["Size?"] = cell("print(image_clue_0.size)"), boxed("done")
    visitor = tab(served)
    visitor.page.evaluate(event)
    visitor.page.get_by_role("img", name="drawn.png").wait_for()
    visitor.ask("Size?")
    visitor.answer()
    assert "(30, 20)" in visitor.text()


def test_a_marked_region_becomes_part_of_the_question(answered: Tab) -> None:
    page = answered.page
    page.locator("#question-1 .chat-asked .chat-image").first.click()
    page.get_by_role("button", name="Mark a region").click()
    frame = page.locator("#chat-large-image").bounding_box()
    page.mouse.move(frame["x"] + frame["width"] / 4, frame["y"] + frame["height"] / 4)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    page.mouse.up()
    left, top, right, bottom = (
        int(page.locator(f"#chat-region [name={name}]").input_value())
        for name in ("left", "top", "right", "bottom")
    )
    assert 0 < left < right
    assert 0 < top < bottom
    page.get_by_role("button", name="Ask about it").click()
    page.locator(".chat-chip", has_text=f"image_clue_0 ({left}, {top}) – ({right}, {bottom})").click()
    assert page.locator(".chat-chip").count() == 0


def test_the_keyboard_is_enough(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Keys?"] = cell("print('opened')"), boxed("done")
    visitor = tab(served)
    keys = visitor.page.keyboard
    keys.type("Keys?")  # the box has the focus
    keys.press("Enter")
    visitor.answer()
    summary = visitor.page.locator(".chat-cell summary")
    for _ in range(20):
        keys.press("Shift+Tab")
        if summary.evaluate("summary => summary === document.activeElement"):
            break
    keys.press("Enter")
    assert visitor.page.locator(".chat-cell .output").is_visible()


def test_what_happens_is_announced(answered: Tab) -> None:
    assert answered.page.locator("#chat-status[role=status]").inner_text() == "Answer: the circle"


def test_an_attached_image_is_announced(parrot: ServedParrot, tab: Tabs) -> None:
    visitor = tab(parrot[0])
    visitor.page.set_input_files("#chat-file", EXAMPLES / "shapes.png")
    visitor.page.locator("#chat-status", has_text="shapes.png is attached").wait_for(state="attached")


def test_the_name_of_a_cell_starts_with_what_it_does(answered: Tab) -> None:
    summary = answered.page.locator(".chat-cell summary").first.aria_snapshot()
    assert summary.startswith("- text: Ran")


def test_the_downloads_are_there_once_there_is_an_answer(answered: Tab) -> None:
    for name in ("Notebook", "Trajectory"):
        with answered.page.expect_download() as download:
            answered.page.get_by_role("link", name=name).click()
        assert str(download.value.suggested_filename).endswith(".zip")


def test_the_report_is_a_page_of_its_own(answered: Tab, parrot: ServedParrot) -> None:
    link = answered.page.get_by_role("link", name="Report").get_attribute("href")
    report = answered.page.context.request.get(f"{parrot[0].url.rstrip('/')}{link}")
    assert "the circle" in report.text()
    assert "sandbox" in report.headers["content-security-policy"]


def test_no_address_says_where_the_files_are(answered: Tab, parrot: ServedParrot) -> None:
    content = answered.page.content()
    assert str(parrot[0].out.parent) not in content
    assert "chat-files/" in content


@pytest.mark.slow
def test_a_file_that_is_not_a_picture_is_refused_in_one_line(
    parrot: ServedParrot, tab: Tabs, tmp_path: Path
) -> None:
    (tmp_path / "note.png").write_text("no picture")
    visitor = tab(parrot[0])
    visitor.ask("What is it?", tmp_path / "note.png")
    visitor.page.locator("#chat-error", has_text="note.png").wait_for()
    assert visitor.page.locator("#chat-box").input_value() == "What is it?"


def test_it_is_readable_on_a_telephone(answered: Tab) -> None:
    width = "document.documentElement.scrollWidth"
    before = answered.page.viewport_size
    answered.page.set_viewport_size({"width": 390, "height": 844})
    try:
        answered.see_pictures()
        assert wait_until(lambda: answered.page.evaluate(width) <= 390)
        assert answered.page.locator("#chat-send").bounding_box()["x"] < 390 - 40
    finally:
        answered.page.set_viewport_size(before)


def test_it_follows_a_dark_system(parrot: ServedParrot, tab: Tabs) -> None:
    visitor = tab(parrot[0], color_scheme="dark")
    visitor.page.wait_for_function(
        "getComputedStyle(document.querySelector('#chat')).backgroundColor.match(/\\d+/g).slice(0, 3)"
        ".every(part => part < 60)"
    )


def test_every_control_has_a_name_for_a_screen_reader(answered: Tab) -> None:
    answered.unfold()
    assert unnamed_controls(answered) == []
    for opener, dialog in (("Settings", "#chat-settings"), ("Enlarge image_clue_0", "#chat-large")):
        answered.page.get_by_role("button", name=opener).or_(
            answered.page.locator(f"[title='{opener}']")
        ).first.click()
        answered.page.locator(f"{dialog}[open]").wait_for()
        assert unnamed_controls(answered) == []
        answered.page.keyboard.press("Escape")


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["button", "input", "summary"])
def test_a_control_without_a_name_would_be_found(parrot: ServedParrot, tab: Tabs, tag: str) -> None:
    visitor = tab(parrot[0])
    visitor.page.evaluate(
        "tag => document.body.insertAdjacentHTML('beforeend', `<details open><${tag}>`)", tag
    )
    assert unnamed_controls(visitor, seconds=1) != []


def unnamed_controls(visitor: Tab, seconds: float = 30) -> list[str]:
    """Kinds of controls that get no name, however long they are given for it."""
    wait_until(lambda: not visitor.unnamed_controls(), seconds)
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
    foreign = "script, iframe, object, embed, base, meta, link, style, form, video, a[href^=javascript], h1"
    shown = visitor.page.locator("#chat-exchanges")
    assert shown.locator(foreign).count() == 0
    assert shown.locator("img:not([src*='/chat-files/'])").count() == 0
    assert (visitor.complaints, visitor.strangers) == ([], [])


@pytest.mark.slow
def test_a_hostile_question_is_text_too(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts[" ".join(printable(payload) for payload in PAYLOADS)] = (boxed("1"),)
    visitor = tab(served)
    visitor.ask(" ".join(printable(payload) for payload in PAYLOADS))
    visitor.answer()
    asked = visitor.page.locator("#chat-exchanges .chat-head")
    assert asked.locator("script, iframe, img, a, svg, form, h1").count() == 0
    assert (visitor.complaints, visitor.strangers) == ([], [])
