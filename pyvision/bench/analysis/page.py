"""The report of an experiment as one HTML page in the frame of the run reports: it opens offline and runs no script.

Text of models, datasets and endpoints is escaped. Answers are filtered by style sheet alone: a radio button hides the
rows of the other grades.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence

from pyvision.bench.analysis.document import (
    Answers,
    Card,
    Command,
    Document,
    Gallery,
    Items,
    Paragraph,
    Part,
    Plot,
    Section,
    Table,
    plain,
)
from pyvision.pages.markup import Markup, document, element, escape, join

_CHOICES = {"all": "all", "wrong": "wrong", "right": "right", "unscored": "unscored"}
_CODE = re.compile(r"`([^`]+)`")


def to_page(report: Document) -> str:
    """The whole page."""
    title = plain(report.title)
    footer = element("p", "Written by PyVision.", class_="facts")
    return document(
        title,
        element("header", element("h1", title)),
        element("main", *map(_section, report.sections), class_="experiment"),
        element("footer", footer),
    )


def _section(section: Section) -> Markup:
    title, parts = plain(section.title), join(*map(_part, section.parts))
    if section.is_folded:
        heading = element("summary", element("h2", title))
        return element("section", element("details", heading, parts, class_="folded"))
    return element("section", element("h2", title), parts)


def _part(part: Part) -> Markup:
    match part:
        case Paragraph(text=text):
            return element("p", *_inline(text))
        case Command(line=line):
            return element("pre", element("code", plain(line)))
        case Items(lines=lines):
            return element("ul", *(element("li", plain(line)) for line in lines))
        case Table():
            return _table(part)
        case Plot():
            return _plot(part)
        case Gallery(cards=cards):
            return element("div", *map(_card, cards), class_="gallery")
        case Answers(cards=cards):
            return _answers(cards)


def _inline(text: str) -> Iterator[Markup]:
    """A remark, with what stands between backticks as code."""
    for number, part in enumerate(_CODE.split(plain(text))):
        yield element("code", part) if number % 2 else escape(part)


def _table(table: Table) -> Markup:
    head = element("tr", *(element("th", plain(cell), scope="col") for cell in table.head))
    rows = (element("tr", *(element("td", plain(cell)) for cell in row)) for row in table.rows)
    return _wide(element("table", element("thead", head), element("tbody", *rows), class_="numbers"))


def _plot(plot: Plot) -> Markup:
    caption = plain(plot.caption)
    dark = element("source", srcset=_data(plot.dark, "png"), media="(prefers-color-scheme: dark)")
    image = element("img", src=_data(plot.png, "png"), alt=caption)
    return element("figure", element("picture", dark, image), element("figcaption", caption), class_="plot")


def _card(card: Card) -> Markup:
    facts = (
        element("div", element("dt", name), element("dd", plain(text) or "–")) for name, text in card.facts
    )
    return element(
        "article",
        _thumbnail(card),
        element("h3", _title(card)),
        element("dl", *facts),
        class_=f"card {card.grade}",
    )


def _answers(cards: Sequence[Card]) -> Markup:
    names = [name for name, _ in cards[0].facts] if cards else []
    head = element("tr", *(element("th", name, scope="col") for name in ("", "sample", "grade", *names)))
    rows = (
        element(
            "tr",
            element("td", _thumbnail(card)),
            element("th", _title(card), scope="row"),
            element("td", card.grade, class_="grade"),
            *(element("td", plain(text)) for _, text in card.facts),
            class_=card.grade,
        )
        for card in cards
    )
    return element(
        "div",
        element("fieldset", element("legend", "Show"), *(_choice(name, cards) for name in _CHOICES)),
        _wide(element("table", element("thead", head), element("tbody", *rows))),
        class_="answers",
    )


def _choice(name: str, cards: Sequence[Card]) -> Markup:
    number = len(cards) if name == "all" else sum(card.grade == name for card in cards)
    button = element("input", type="radio", name="show", id=f"show-{name}", checked=name == "all")
    return element("label", button, f" {name} ({number:,}) ")


def _title(card: Card) -> Markup:
    title = plain(card.title)
    return element("span", title) if card.link is None else element("a", title, href=card.link)


def _thumbnail(card: Card) -> Markup | None:
    if not card.thumbnail:
        return None
    return element("img", src=_data(card.thumbnail, "jpeg"), alt="", class_="thumbnail")


def _wide(table: Markup) -> Markup:
    return element("div", table, class_="wide", tabindex=0)


def _data(image: bytes, kind: str) -> Markup:
    return Markup(f"data:image/{kind};base64,{b64encode(image).decode()}")
