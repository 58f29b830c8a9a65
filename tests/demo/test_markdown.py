from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.demo.markdown import render_line, render_markdown
from pyvision.demo.maths import mathml
from tests.pages.parsed import Page
from tests.payloads import PAYLOADS

PROSE = "p ul ol li strong em code pre a table thead tbody tr th td hr br blockquote s div span"
FORMULAS = "math mrow mi mn mo mtext mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mspace"
ALLOWED = {*PROSE.split(), *FORMULAS.split()}
MARKS = (
    "**",
    "_",
    "`",
    "```",
    "\n",
    "# ",
    "- ",
    "> ",
    "|",
    "[a](",
    ")",
    "<b>",
    "<!--",
    "$",
    "$$",
    "\\(",
    "\\frac{",
)


def names_in(html: str) -> set[str]:
    return set(re.findall(r"<([a-z0-9]+)", html))


def test_markdown_becomes_elements() -> None:
    html = render_markdown("**a** `b`\n\n- c\n\n| d |\n|---|\n| e |\n\n```python\nprint(1)\n```")
    assert {"strong", "code", "li", "td", "pre"} <= names_in(html)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_markup_in_a_text_is_text(payload: str) -> None:
    assert names_in(render_markdown(payload)) <= ALLOWED
    assert names_in(render_line(payload)) <= ALLOWED


@given(st.lists(st.sampled_from([*MARKS, *PAYLOADS]) | st.text(max_size=5), max_size=30).map("".join))
def test_only_known_elements_come_out_whole(text: str) -> None:
    for html in (render_markdown(text), render_line(text)):
        assert names_in(html) <= ALLOWED
        assert Page(html).open == []


@pytest.mark.parametrize(
    "link",
    [
        "[a](javascript:alert(1))",
        "[a](data:text/html,x)",
        "[a](/etc/passwd)",
        "[a](//e.org)",
        "<javascript:alert(1)>",
    ],
)
def test_links_lead_to_web_pages_only(link: str) -> None:
    assert "<a" not in render_markdown(link)


def test_a_link_gives_its_page_no_hold_on_this_one() -> None:
    (link,) = Page(render_markdown("[a](https://example.org)")).named("a")
    assert (link["href"], link["rel"]) == ("https://example.org", "noopener noreferrer nofollow")


def test_no_image_is_loaded() -> None:
    assert "<img" not in render_markdown("![x](https://example.org/x.png)")


@pytest.mark.parametrize(
    "answer", ["2*3*4", "__init__", "D.C.", "# 5", "1. d4", "$5 and $10", "costs $5-$10", "<b>"]
)
def test_an_answer_of_one_line_keeps_its_characters(answer: str) -> None:
    assert Page(render_line(answer)).text == answer


def test_a_long_text_is_shown_as_it_is() -> None:
    assert "<strong>" not in render_markdown("**a** " * 10_000)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\frac{1}{2}", "mfrac"),
        (r"\frac12", "mfrac"),
        (r"x_1^2", "msubsup"),
        (r"\sqrt[3]{x}", "mroot"),
        (r"\sum_{i=1}^n i", "munderover"),
        (r"\left(\frac{a}{b}\right)^2", "mfrac"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "mtable"),
        (r"90^\circ", "msup"),
        (r"\text{area} = 5\,\mathrm{cm}^2", "mtext"),
        (r"\vec{v}", "mover"),
    ],
)
def test_a_formula_becomes_mathml(source: str, expected: str) -> None:
    assert f"<{expected}" in mathml(source)


@pytest.mark.parametrize(
    "source", [r"\foo", r"\frac{1}", "{", "}", "^", r"\begin{x}\end{x}", r"\href{a}{b}", "{" * 500]
)
def test_a_formula_that_is_not_covered_is_shown_as_its_source(source: str) -> None:
    html = mathml(source)
    assert names_in(html) == {"code"}
    assert Page(html).text == source


def test_a_formula_is_found_in_a_line() -> None:
    assert "<mi>x</mi>" in render_line("so $x = 2$.")
    assert "<mi>y</mi>" in render_markdown("so\n\n$$\ny = 2\n$$\n\nand")


def test_a_formula_that_is_still_being_written_is_drawn_so_far() -> None:
    assert "<mfrac>" in render_markdown("so\n\n$$\\frac{1}{2}")


@pytest.mark.parametrize("answer", [r"\frac{1}{2}", r"\frac{A_1}{A_2} = 4", r"5\,\text{metres}"])
def test_an_answer_that_is_one_formula_needs_no_marks(answer: str) -> None:
    assert render_line(answer).startswith("<math")


@pytest.mark.parametrize("answer", [r"C:\temp\new", r"the \alpha value", r"a\b"])
def test_a_backslash_alone_makes_no_formula(answer: str) -> None:
    assert render_line(answer) == answer
