"""Traces are formatted as by pysnooper, character for character, and within limits."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pyvision.strategies.vdebugger.programs import FORMS, canonical
from pyvision.strategies.vdebugger.trace_format import shorten, shorten_value, trace_text
from sandbox import Change, Trace, TraceEvent
from tests.strategies.vdebugger.scenes import Near, Scene, SceneObject, World
from tests.strategies.vdebugger.snooping import api, ours, theirs
from tests.strategies.vdebugger.worked import EXPECTED, KNOWLEDGE, Worked, worked_programs

SIGNATURE = FORMS["vqa"].signature
PLAIN = {
    "a loop that changes and goes on": """
    total = 0
    for number in range(4):
        if number == 1:
            continue
        total += number
    while total > 0:
        total -= 2
    else:
        done = True
    return total""",
    "an exception that ends it": """
    numbers = [1, 0]
    for number in numbers:
        share = 1 / number
    return share""",
    "an exception that is caught": """
    try:
        value = {}["missing"]
    except KeyError as error:
        value = str(error)
    finally:
        closed = True
    return value""",
    "an exception inside a function of its own": """
    def check(value):
        if value > 1:
            raise ValueError(f"{value} is too large")
        return value
    first = check(1)
    return check(2)""",
    "comprehensions, a generator and a lambda": """
    item = "outer"
    found = [item * 2 for item in range(3) if item]
    pairs = {key: [key for inner in "ab"] for key in "cd"}
    total = sum(value for value in found)
    best = max(found, key=lambda each: -each)
    return [total, best, item]""",
    "an exception in a comprehension": """
    shares = [1 / number for number in (1, 0)]
    return shares""",
    "a call of itself": """
    if image == 'picture':
        return execute_command(2)
    left = image - 1
    return 'done' if left == 0 else execute_command(left)""",
    "values that are too long, of several lines, or as they were": """
    text = 'x' * 1000
    longer = text + 'y'
    numbers = list(range(400))
    lines = 'a\\nb'
    numbers.sort()
    numbers.reverse()
    lines = 'a\\n' + 'b'
    return text""",
    "no result": """
    image = image.upper()
    pass""",
    "deleting, unpacking and nonlocal names": """
    first, *rest = (1, 2, 3)
    def more():
        nonlocal first
        first += 1
    more()
    del rest
    rest = first
    return rest""",
}


# What pysnooper 1.2.3 reports for them under Python 3.11. From 3.12 on it also reports the variables of
# comprehensions, which no longer have their own frame (PEP 709); critics are trained on the older form.
RECORDED: dict[str, str] = json.loads((Path(__file__).parent / "traces.json").read_text(encoding="utf-8"))
INLINES_COMPREHENSIONS = sys.version_info >= (3, 12)


def settled(text: str) -> str:
    """Without a line that is formatted twice in a row: Python 3.12.1 does that after an `and` that calls."""
    lines = text.splitlines()
    twice = [sys.version_info[:2] == (3, 12) and line == before for before, line in pairwise(lines)]
    return "\n".join(line for line, again in zip(lines, [False, *twice], strict=True) if not again)


def skip_newer_pysnooper(program: str) -> None:
    if INLINES_COMPREHENSIONS and " for " in program and any(bracket in program for bracket in "[{("):
        pytest.skip("pysnooper traces comprehensions differently on this Python")


def compared(body: str, folder: Path) -> tuple[str, str]:
    program = canonical(f"{SIGNATURE}\n{body}", SIGNATURE).text
    return ours(program, "picture", {}, SIGNATURE), theirs(program, "picture", {}, SIGNATURE, folder)


@pytest.mark.parametrize("kind", PLAIN)
def test_a_program_is_traced_identically_on_every_python(kind: str) -> None:
    program = canonical(f"{SIGNATURE}\n{PLAIN[kind]}", SIGNATURE).text
    assert ours(program, "picture", {}, SIGNATURE) == RECORDED[kind]


@pytest.mark.parametrize("worked", worked_programs(), ids=lambda each: each.question)
def test_a_worked_program_is_traced_identically_on_every_python(worked: Worked) -> None:
    program, argument, names, signature = call_of(worked)
    assert settled(ours(program, argument, names, signature)) == settled(RECORDED[worked.question])


@pytest.mark.parametrize("kind", PLAIN)
def test_a_trace_is_formatted_as_pysnooper_formats_it(kind: str, tmp_path: Path) -> None:
    skip_newer_pysnooper(PLAIN[kind])
    formatted, expected = compared(PLAIN[kind], tmp_path)
    assert formatted == expected
    assert len(formatted.splitlines()) > 4


@pytest.mark.parametrize("worked", worked_programs(), ids=lambda each: each.question)
def test_the_trace_of_a_worked_program_is_formatted_as_by_pysnooper(worked: Worked, tmp_path: Path) -> None:
    skip_newer_pysnooper(worked.program)
    program, argument, names, signature = call_of(worked)
    formatted = ours(program, argument, names, signature)
    assert formatted == theirs(program, argument, names, signature, tmp_path)
    assert formatted.splitlines()[-1].startswith("Return value:..")


def call_of(worked: Worked) -> tuple[str, object, dict[str, Any], str]:
    """The program, what it is called with, what it finds around it, and its signature."""
    scenes, _ = EXPECTED[worked.question]
    world = World(*scenes, knowledge=KNOWLEDGE)
    names, images = api(Near(world)), [Picture(world.image(number)) for number in range(len(scenes))]
    argument = {"pair": dict(zip(("left", "right"), images, strict=False)), "list": images}.get(
        worked.form, images[0]
    )
    signature = FORMS[worked.form].signature
    return canonical(worked.program, signature).text, argument, names, signature


def test_the_comparison_sees_a_difference(tmp_path: Path) -> None:
    formatted, _ = compared("    return 1", tmp_path)
    _, expected = compared("    return 2", tmp_path)
    assert formatted != expected


NAMES = st.sampled_from("abc")
VALUES = st.sampled_from(["1", "'x'", "[1, 2]", "a", "b + 1", "c * 2", "[i for i in range(3)]", "len(a)"])
SIMPLE = st.tuples(NAMES, VALUES).map(lambda each: [f"{each[0]} = {each[1]}"])


def nested(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    def under(header: str) -> st.SearchStrategy[list[str]]:
        return inner.map(lambda lines: [header, *(f"    {line}" for line in lines)])

    return st.one_of(
        st.tuples(inner, inner).map(lambda both: [*both[0], *both[1]]),
        st.sampled_from(["for i in range(2):", "if a:", "while steps.pop():"]).flatmap(under),
        inner.map(
            lambda lines: ["try:", *(f"    {line}" for line in lines), "except TypeError:", "    c = 0"]
        ),
        st.just(["return a"]),
    )


@given(st.recursive(SIMPLE, nested, max_leaves=6))
def test_the_trace_of_any_small_program_is_formatted_as_by_pysnooper(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    known = ["a = 1", "b = 2", "c = 3", "steps = [0, 1, 0, 1, 1]"]
    body = "\n".join(f"    {line}" for line in [*known, *lines, "a = 4", "return a"])
    assume(not INLINES_COMPREHENSIONS or "[i for" not in body)
    formatted, expected = compared(body, tmp_path_factory.getbasetemp())
    assert formatted == expected


class Picture:
    """A picture that both tell by its name."""

    def __init__(self, image: object) -> None:
        self.pillow = image

    def __getattr__(self, name: str) -> object:
        return getattr(self.pillow, name)

    def __repr__(self) -> str:
        return "picture"


def test_the_example_of_the_paper_is_formatted_in_its_layout() -> None:
    world = World(Scene((SceneObject("person", (20, 20, 60, 60)),)))
    program = (
        f"{SIGNATURE}\n    image_patch = ImagePatch(image)\n    person_patches = image_patch.find('person')\n"
        "    image_patch = 0\n    return image_patch.simple_query('Who is this?')"
    )
    formatted = ours(program, world.image(), api(Near(world)), SIGNATURE)
    assert formatted.splitlines() == [
        "call         1 def execute_command(image) -> str:",
        "line         2     image_patch = ImagePatch(image)",
        "New var:....... image_patch = ImagePatch(left=0, right=256, upper=256, lower=0, height=256, width=256, "
        "horizontal_center=128.0, vertical_center=128.0)",
        "line         3     person_patches = image_patch.find('person')",
        "New var:....... person_patches = [ImagePatch(left=10, right=70, upper=246, lower=186, height=60, width=60, "
        "horizontal_center=40.0, vertical_center=216.0)]",
        "line         4     image_patch = 0",
        "Modified var:.. image_patch = 0",
        "line         5     return image_patch.simple_query('Who is this?')",
        "exception    5     return image_patch.simple_query('Who is this?')",
        "Exception:..... AttributeError: 'int' object has no attribute 'simple_query'",
        "Call ended by exception",
    ]


def event(kind: str = "line", line: int = 2, depth: int = 1, **more: object) -> TraceEvent:
    return TraceEvent(kind, "execute_command", 2, line, depth, f"    line {line}", **more)  # type: ignore[arg-type]


def test_the_signature_stands_for_the_line_that_defines_the_program() -> None:
    assert (
        trace_text(Trace((event("call", 1), event()), 2), SIGNATURE).splitlines()[0]
        == f"call         1 {SIGNATURE}"
    )


def test_only_the_last_call_is_formatted() -> None:
    calls = (event("call", 1), event(line=2), event("return", 2, value="1"), event("call", 1), event(line=3))
    assert "line 2" not in trace_text(Trace(calls, 5), SIGNATURE)


def test_variables_before_the_header_are_omitted() -> None:
    call = event("call", 1, changes=(Change("image", "<Image RGB 9x9>", "starting"),))
    assert "image =" not in trace_text(Trace((call,), 1), SIGNATURE)


def test_events_that_are_missing_are_counted_at_their_place() -> None:
    lines = trace_text(Trace((event("call", 1), event(line=2), event(line=9)), 2, 7), SIGNATURE).splitlines()
    assert lines[2] == "[7 events left out]"
    assert len(lines) == 4


def test_a_trace_without_the_program_is_empty() -> None:
    assert trace_text(Trace((TraceEvent("call", "<module>", 1, 1, 0, "x"),), 1), SIGNATURE) == ""


@pytest.mark.parametrize(("length", "expected"), [(1000, 1000), (1001, 1000), (5000, 1000)])
def test_a_long_value_keeps_997_characters_of_its_ends(length: int, expected: int) -> None:
    text = "".join(chr(97 + at % 26) for at in range(length))
    cut = shorten_value(text)
    assert len(cut) == expected
    assert length == 1000 or cut == f"{text[:498]}...{text[-499:]}"


LONG = "\n".join(["call", *(f"line {number}" for number in range(100)), "Return value:.. 1"])


def test_a_trace_that_is_too_long_keeps_both_ends() -> None:
    lines = shorten(LONG, 200).splitlines()
    assert (lines[0], lines[-1]) == ("call", "Return value:.. 1")
    assert lines[1] == f"[{102 - len(lines) + 1} lines left out]"


def test_a_trace_can_be_cut_as_the_published_code_cuts_it() -> None:
    assert shorten(LONG, 200, "start") == LONG[:200]


@given(st.text(alphabet="ab\n", max_size=400), st.integers(50, 300))
def test_a_trace_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= limit
    assert len(text) > limit or shorten(text, limit) == text
