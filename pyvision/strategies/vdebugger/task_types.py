"""The forms of task: how each puts a question, what its program takes, and what answers it when the program fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.errors import ConfigError
from pyvision.types import Question

FormName: TypeAlias = Literal["vqa", "pair", "list", "box"]
FUNCTION = "execute_command"
_BOX = re.compile(
    r"(?:please )?(?:find|locate|localize|localise|ground|box|outline|point (?:to|at|out)|mark|show me)\b(?: me)?\s*",
    re.IGNORECASE,
)
_BOUNDING = re.compile(r"\bbounding box(?:es)?\b(?: (?:of|for|around))?", re.IGNORECASE)
_GIVE_BOX = re.compile(r"^.*\bbounding box(?:es)?\b\s*(?:of|for|around)?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One form. opening: the query's first line, `{}` is the question; signature: its second line.

    argument: what the program is called with, of the names of the images. plain: a program's one expression that
    answers without any of its own, `{}` is the question as a Python literal. most: images that it takes at most.
    """

    name: FormName
    opening: str
    signature: str
    argument: Callable[[Sequence[str]], str]
    plain: str
    least: int = 1
    most: int | None = 1


@dataclass(frozen=True, slots=True)
class Query:
    """A question as programs are written for it: two lines, and the expression to call the program with."""

    form: Form
    subject: str  # the question itself, on one line
    argument: str

    @property
    def line(self) -> str:
        """The first line, which stands before a program as a comment."""
        return self.form.opening.format(self.subject)

    @property
    def signature(self) -> str:
        return self.form.signature

    @property
    def plain_program(self) -> str:
        """The program that asks the question as it is, in place of one that has failed."""
        return f"{self.signature}\n    return {self.form.plain.format(repr(self.subject))}"


def _first(names: Sequence[str]) -> str:
    return names[0]


def _sides(names: Sequence[str]) -> str:
    return f'{{"left": {names[0]}, "right": {names[1]}}}'


def _all(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"


# The lines of the queries are those of the published data, so that critics and refiners trained on it fit.
FORMS: Mapping[FormName, Form] = {
    "vqa": Form(
        "vqa",
        "Given an image: {}",
        f"def {FUNCTION}(image) -> str:",
        _first,
        "ImagePatch(image).simple_query({})",
    ),
    "box": Form(
        "box",
        "Given an image: Find {}.",
        f"def {FUNCTION}(image) -> ImagePatch:",
        _first,
        "ImagePatch(image).find({})[0]",
    ),
    "pair": Form(
        "pair",
        "Given two images, one on the left and one on the right: {}",
        f"def {FUNCTION}(image_dict) -> str:",
        _sides,
        "ImagePatch(side_by_side([image_dict['left'], image_dict['right']])).simple_query({})",
        least=2,
        most=2,
    ),
    "list": Form(
        "list",
        "Given a list of images: {}",
        f"def {FUNCTION}(image_list) -> str:",
        _all,
        "ImagePatch(side_by_side(image_list)).simple_query({})",
        most=None,
    ),
}


def query_of(question: Question, name: FormName | Literal["auto"] = "auto") -> Query:
    """The question in its form. Raises ConfigError for a form that does not take so many images."""
    form = FORMS[_form_for(question) if name == "auto" else name]
    count = len(question.images)
    if count < form.least or (form.most is not None and count > form.most):
        takes = f"{form.least}" if form.most == form.least else f"{form.least} or more"
        raise ConfigError(
            f"option form is {form.name!r}, which takes {takes} images; the question has {count}"
        )
    names = [handle for handle, _ in question.named_images]
    return Query(form, _subject(question, form.name), form.argument(names))


def _form_for(question: Question) -> FormName:
    if len(question.images) > 1:
        return "pair" if len(question.images) == 2 else "list"
    text = question.text.strip()
    is_box = not question.choices and (_BOX.match(text) or _BOUNDING.search(text))
    return "box" if is_box else "vqa"


def _subject(question: Question, name: FormName) -> str:
    text = " ".join(question.full_text.split())
    if name == "box":
        named = _BOX.sub("", _GIVE_BOX.sub("", text), count=1)
        return named.rstrip(" .?!") or text.rstrip(" .?!")
    if name == "pair" and "?" not in text:
        return f"Is the statement true? {text}"
    return text
