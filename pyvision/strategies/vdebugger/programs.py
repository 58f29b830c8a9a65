"""Programs: which function each form of task asks for, how to find it in a reply, and its canonical text.

The canonical text is the one that is run, traced, criticised and compared.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.errors import ConfigError, FormatError
from pyvision.text.json_repair import values_in
from pyvision.text.python_source import parse_source
from pyvision.text.replies import without_thinking
from pyvision.types import Question

FormName: TypeAlias = Literal["vqa", "pair", "list", "box"]
FUNCTION = "execute_command"
_PROGRAM_CHARS = 20_000  # a program is a few lines; a longer one comes from a model that repeats itself
_BOX = re.compile(
    r"(?:please )?(?:(?:find|locate|localize|localise)\b(?: me)?"
    r"|(?:outline|point (?:to|at|out)|show me|ground|box|mark)\b"
    r"(?= (?:the|a|an|all|both|each|every|this|that|these|those|my|his|her|its|their)\b))\s*",
    re.IGNORECASE,
)
_NO_THING = re.compile(  # what is asked for is a value, not something to draw a box around
    r"(?:(?:the|a|an|its|their)\s+)?(?:(?:total|exact|approximate|missing|combined|average|mean|median|maximum|minimum|unknown"
    r"|correct|final|numerical|surface|percentage|shaded)\s+)*(?:perimeter|area|circumference|volume|length|width|height|depth"
    r"|radius|diameter|distance|angle|measure|slope|value|number|count|amount|sum|total|difference|product|quotient|ratio"
    r"|average|mean|median|mode|range|probability|percentage|percent|fraction|equation|formula|solution|answer|result"
    r"|coordinates?|midpoint|weight|mass|speed|velocity|time|year|date|age|price|cost|word|name|title|colou?r|reason|cause"
    r"|meaning|relationship|[a-z])\b(?!-)|(?:out\s+)?(?:how|what|which|whether|who|when|why|if)\b|[^?]*\?",
    re.IGNORECASE,
)
_BOUNDING = re.compile(r"\bbounding box(?:es)?\b(?: (?:of|for|around))?", re.IGNORECASE)
_GIVE_BOX = re.compile(r"^.*\bbounding box(?:es)?\b\s*(?:of|for|around)?\s*", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_HEADER = re.compile(rf"^[ \t]*(?:async )?def {FUNCTION}\b", re.MULTILINE)
_OBJECT = re.compile(r"\s*(?:`{3,}\w{0,20}\s*)?\{")
_TRAILER = re.compile(r"^[ \t]*(?:# (?:Program is|Correction)\b|-> |--- Trace)", re.MULTILINE)
_MARK = re.compile(r"<<<\s*/?\s*BUG\s*/?\s*>>>", re.IGNORECASE)
_MODULE_LEVEL = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)  # what `ast.parse` raises for a text


@dataclass(frozen=True, slots=True)
class Form:
    """A form of task. opening: the query's first line, `{}` is the question; signature: its second line.

    argument: from the names of the images, the expression that the program is called with. plain: the expression that
    asks a tool directly, `{}` is the question as a Python literal. least, most: how many images the form takes.
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
    why: str = ""  # what decided the form

    @property
    def line(self) -> str:
        """The first line, which precedes a program as a comment."""
        return self.form.opening.format(self.subject)

    @property
    def signature(self) -> str:
        return self.form.signature

    @property
    def plain_program(self) -> str:
        """The program that asks the question directly, in place of one that failed."""
        return f"{self.signature}\n    return {self.form.plain.format(repr(self.subject))}"


@dataclass(frozen=True, slots=True)
class Program:
    """A program ready to run. error: why it cannot run, in one line; then the text is the original one."""

    text: str
    error: str | None = None


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
    """The question in its form. Raises ConfigError if the form does not take this number of images."""
    chosen, why = _form_for(question) if name == "auto" else (name, "set by the option form")
    form = FORMS[chosen]
    count = len(question.images)
    if count < form.least or (form.most is not None and count > form.most):
        takes = f"{form.least}" if form.most == form.least else f"{form.least} or more"
        raise ConfigError(
            f"option form is {form.name!r}, which takes {takes} images; the question has {count}"
        )
    names = [handle for handle, _ in question.named_images]
    return Query(form, _subject(question, form.name), form.argument(names), why)


def program_in(reply: str, signature: str) -> str:
    """The program of a reply: a fenced block, the text from its `def`, or a bare body, which gets the signature.

    Marks around a faulty span are removed, as is any part of the prompt that the reply repeats after the program.
    Raises FormatError.
    """
    text = without_thinking(reply.replace("\r\n", "\n"))
    text = _MARK.sub("", _text_in_json(text) or text)
    code = _without_trailer(_code(text))
    if len(code) > _PROGRAM_CHARS:
        raise FormatError(f"the program has {len(code):,} characters; the limit is {_PROGRAM_CHARS:,}")
    if _HEADER.search(code):
        return code
    body = f"{signature}\n{textwrap.indent(textwrap.dedent(code), '    ')}"
    if not (code.strip() and _returns(body)):
        raise FormatError(f"the reply holds no function {FUNCTION}")
    return body


def defines_function(text: str) -> bool:
    """Whether a text holds the head of a program."""
    return _HEADER.search(text) is not None


def canonical(program: str, signature: str) -> Program:
    """The program as `ast.unparse` writes it: no comments, one statement a line, the form's signature on the function.

    Of the module only definitions, imports and assignments remain: calling the function is not the program's part.
    """
    try:
        tree = parse_source(textwrap.dedent(program))
        tree.body = [each for each in tree.body if isinstance(each, _MODULE_LEVEL)]
        function = next((each for each in tree.body if _is_function(each)), None)
        if not isinstance(function, ast.FunctionDef):
            return Program(program.strip("\n"), f"it defines no function {FUNCTION}")
        _sign(function, signature)
        return Program(ast.unparse(tree))
    except _PARSE_ERRORS as error:
        return Program(program.strip("\n"), f"{type(error).__name__}: {' '.join(str(error).split())}"[:300])


def _form_for(question: Question) -> tuple[FormName, str]:
    """The form and what decided it: the number of images, then the choices, then what is asked for."""
    if len(question.images) > 1:
        return ("pair" if len(question.images) == 2 else "list"), f"{len(question.images)} images"
    if question.choices:
        return "vqa", "choices are given"
    text = " ".join(question.text.split())
    if _BOUNDING.search(text):
        return "box", "a bounding box is asked for"
    verb = _BOX.match(text)
    if verb is None:
        return "vqa", "no object is to be found"
    if _NO_THING.match(text, verb.end()):
        return "vqa", "a value is asked for, not a place"
    return "box", "an object is to be found"


def _subject(question: Question, name: FormName) -> str:
    text = " ".join(question.full_text.split())
    if name == "box":
        named = _BOX.sub("", _GIVE_BOX.sub("", text), count=1)
        return named.rstrip(" .?!") or text.rstrip(" .?!")
    if name == "pair" and "?" not in text:
        return f"Is the statement true? {text}"
    return text


def _text_in_json(text: str) -> str | None:
    """The program that is a text in an object: {"program": "def execute_command(image): …"}."""
    if not _OBJECT.match(text):
        return None
    objects = (value for value in values_in(text) if isinstance(value, dict))
    texts = (text for value in objects for text in value.values() if isinstance(text, str))
    return next((text for text in texts if _HEADER.search(text)), None)


def _code(text: str) -> str:
    fences = [found[2] for found in _FENCE.finditer(text)]
    if fences:
        return next((each for each in fences if _HEADER.search(each)), fences[0])
    header = _HEADER.search(text)
    if header is None:
        return text
    imports = re.search(r"(?:^(?:import|from)\s[^\n]*\n|^\s*\n)*\Z", text[: header.start()], re.MULTILINE)
    before = imports[0].strip() if imports else ""
    return f"{before}\n{_without_prose(text[header.start() :])}".lstrip("\n")


def _without_prose(code: str) -> str:
    """A bare program without the prose after it: the longest part, in whole lines, that is valid Python."""
    lines = _without_trailer(code).splitlines()
    for end in range(len(lines), 1, -1):
        if _tree("\n".join(lines[:end])) is not None:
            return "\n".join(lines[:end])
        if lines[end - 1].startswith((" ", "\t")):
            break  # the program's last line is invalid: the kernel reports the error
    return "\n".join(lines)


def _without_trailer(code: str) -> str:
    found = _TRAILER.search(code)
    return code[: found.start()] if found else code


def _returns(program: str) -> bool:
    """Whether the only function of a program has a return statement."""
    tree = _tree(program)
    return tree is not None and any(isinstance(each, ast.Return) for each in _own_nodes(tree.body[0]))


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(node)


def _tree(program: str) -> ast.Module | None:
    try:
        return parse_source(textwrap.dedent(program))
    except _PARSE_ERRORS:
        return None


def _is_function(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == FUNCTION


def _sign(function: ast.FunctionDef, signature: str) -> None:
    (model,) = parse_source(f"{signature} pass").body
    assert isinstance(model, ast.FunctionDef)
    if [each.arg for each in function.args.args] == [each.arg for each in model.args.args]:
        function.args, function.returns = model.args, model.returns
