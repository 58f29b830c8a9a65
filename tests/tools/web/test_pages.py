"""HTML becomes the text that a person would read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.tools.web.text import PageText, page_text


@pytest.mark.parametrize(
    ("html", "title", "text"),
    [
        ("<title> An\n owl </title><h1>Owls</h1><p>They <b>hunt</b>.</p>", "An owl", "Owls\nThey hunt."),
        ("a<br>b<br/>c", "", "a\nb\nc"),
        ("<ul><li>one<li>two</ul>", "", "one\ntwo"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "", "1\n2"),
        ("x<script>alert('<p>no</p>')</script>y", "", "xy"),
        ("x<style>p { }</style>y<template><p>no</p></template>", "", "xy"),
        ("x<div hidden>no<p>no</p></div>y", "", "x\ny"),
        ('x<p aria-hidden="true">no</p>y', "", "x\ny"),
        ('x<div style="Display : none">no<br>no<img src=x></div>y', "", "x\ny"),
        ("x<!-- no -->y", "", "xy"),
        ("<head><title>T</title><p>no end of the head", "T", "no end of the head"),
        ("<p>open <b>and <i>never closed", "", "open and never closed"),
        ("a &amp; b &lt;p&gt; &#8212; &nosuch;", "", "a & b <p> — &nosuch;"),
        ("</div></p>stray ends</span>", "", "stray ends"),
        ("<svg><title>no</title></svg>yes", "", "yes"),
        ("", "", ""),
        ("no markup at all", "", "no markup at all"),
    ],
)
def test_a_page_is_reduced_to_its_visible_text(html: str, title: str, text: str) -> None:
    assert page_text(html) == PageText(title, text)


@given(st.text(st.sampled_from("<>/!-pdivscrtyle =\"'&;hidn\n ") | st.characters(), max_size=300))
def test_any_text_is_read(html: str) -> None:
    page = page_text(html)
    assert "\n" not in page.title
    assert "\n\n" not in page.text


def test_deeply_nested_markup_is_read() -> None:
    assert page_text("<div>" * 20_000 + "x").text == "x"
    assert page_text("<div hidden>" * 20_000 + "x").text == ""
