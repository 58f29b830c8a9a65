"""Conversations in a browser: several questions, tabs and visitors, and what each of them shares."""

from __future__ import annotations

import pytest

from tests.demo.conftest import Tab
from tests.demo.test_browser import EXAMPLES, ServedParrot, Tabs, boxed, cell
from tests.sandbox.processes import wait_until

pytestmark = pytest.mark.slow


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


def test_a_new_chat_begins_with_a_new_kernel_while_the_old_one_is_busy(
    parrot: ServedParrot, tab: Tabs
) -> None:
    served, brain = parrot
    brain.scripts["Before?"] = cell("kept = 1\nimport time\ntime.sleep(2)"), boxed("one")
    brain.scripts["After?"] = cell("print('kept' in globals())"), boxed("two")
    visitor = tab(served)
    visitor.ask("Before?")
    visitor.page.locator("#question-1 .chat-pending", has_text="Running").wait_for()
    visitor.page.get_by_role("button", name="New chat").click()
    visitor.page.locator("#question-1").wait_for(state="detached")
    visitor.ask("After?")
    assert visitor.answer(1) == "two"
    assert "False" in visitor.text()


def test_an_edited_question_is_asked_in_its_place_with_its_images(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Frist?"] = (boxed("one"),)
    brain.scripts["First?"] = cell("print(image_clue_0.size)"), boxed("two")
    visitor = tab(served)
    visitor.ask("Frist?", EXAMPLES / "circles.png")
    visitor.answer()
    visitor.page.get_by_role("button", name="Edit", exact=True).click()
    editor = visitor.page.get_by_role("textbox", name="Question", exact=True).first
    editor.fill("First?")
    editor.press("Control+Enter")
    visitor.page.locator(".chat-answer", has_text="two").wait_for()
    assert "(640, 320)" in visitor.text()
    assert "Frist?" not in visitor.text()


def test_a_question_is_asked_again(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    brain.scripts["Which?"] = (boxed("one"),)
    visitor = tab(served)
    visitor.ask("Which?")
    visitor.answer()
    brain.scripts["Which?"] = (boxed("two"),)
    visitor.page.get_by_role("button", name="Retry").click()
    visitor.page.locator(".chat-answer", has_text="two").wait_for()
    assert visitor.page.locator(".chat-exchange").count() == 1


def test_a_second_tab_shows_what_the_first_asked_when_it_is_used_again(
    parrot: ServedParrot, tab: Tabs
) -> None:
    served, brain = parrot
    brain.scripts["One?"] = (boxed("1"),)
    brain.scripts["Two?"] = (boxed("2"),)
    first = tab(served)
    first.ask("One?")
    first.answer()
    second = Tab(first.page.context.new_page())
    second.page.goto(served.url)
    assert second.answer() == "1"
    first.ask("Two?")
    first.answer(2)
    second.page.evaluate("dispatchEvent(new Event('focus'))")
    assert second.answer(2) == "2"


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
    assert "Mine?" not in second.page.inner_text("#chat")


def test_the_kernel_ends_soon_after_the_tab(parrot: ServedParrot, tab: Tabs) -> None:
    served, brain = parrot
    named = "import ctypes\nctypes.CDLL(None).prctl(15, b'mine-alone')"  # PR_SET_NAME
    brain.scripts["Run?"] = cell(named), boxed("one")
    visitor = tab(served)
    visitor.ask("Run?")
    visitor.answer()
    assert served.is_running("mine-alone")
    visitor.page.close()
    assert wait_until(lambda: not served.is_running("mine-alone"))
