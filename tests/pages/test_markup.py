from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pyvision.pages.markup import Markup, element, escape, join
from pyvision.text.sanitize import printable
from tests.pages.parsed import Page


@given(some.text())
def test_any_text_comes_back_as_text(text: str) -> None:
    assert Page(element("p", text)).text == printable(text)


@given(some.text())
def test_any_text_opens_no_element(text: str) -> None:
    page = Page(element("p", text, title=text))
    assert page.elements == [("p", {"title": printable(text)})]
    assert page.open == []


def test_markup_is_not_escaped_again() -> None:
    assert element("p", element("b", "<")) == "<p><b>&lt;</b></p>"


def test_terminal_escapes_are_gone() -> None:
    assert escape("\x1b[31mred\x1b[0m\x07") == "red"


def test_attributes_may_be_true_false_or_nothing() -> None:
    assert (
        element("details", open=True, hidden=False, id=None, aria_label="a b")
        == '<details open aria-label="a b"></details>'
    )


def test_empty_parts_are_left_out() -> None:
    assert join("a", None, Markup("<br>")) == "a<br>"


@pytest.mark.parametrize("name", ["onclick", "onerror", "a b"])
def test_an_attribute_that_could_run_something_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="attribute"):
        element("p", **{name: "x"})


def test_a_name_of_an_element_cannot_come_from_outside() -> None:
    with pytest.raises(ValueError, match="element"):
        element("p onclick=x")
