"""The roles of VDebugger by rules: the coder fills in templates, the critic reports exceptions, the refiner simplifies.

Covered: questions for a number, a colour, whether there is one, which there are more of, and where one is. Other
questions are passed to `simple_query` unchanged. A critic declines to judge a program that ran: no rule can tell.
Prompts are recognized by their last lines; images are not used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from pyvision.offline.wording import read_question
from pyvision.text.prompts import load
from pyvision.text.python_source import parse_source
from pyvision.types import Message, Reply

_TASK = re.compile(r"\n# Given [^\n:]*: (?P<question>[^\n]*)\n(?P<signature>def [^\n]*:)\s*\Z")
_CASE = re.compile(
    r".*\n?# Given [^\n:]*: (?P<question>[^\n]*)\n(?P<program>.*?)"
    r"(?:\n\n-> (?P<result>.*?)\n\n--- Trace\n\n(?P<trace>.*?))?\n\n# (?P<asked>Program is|Correction|Blocks are)\s*\Z",
    re.DOTALL,
)
_EXCEPTION = re.compile(r"^exception +(\d+) ", re.MULTILINE)
_MARKS = re.compile(r"<<<BUG/?>>>")
_COLOUR = re.compile(r"(?:what|which) colour (?:is|are|does) (?:a |an )?(?P<what>.+?)(?: have)?")
_EXISTS = re.compile(
    r"(?:is|are) there (?:(?:an|any|some|a) )?(?P<what>.+?)(?: (?:in|on) image)?"
    r"|does image (?:show|contain|have) (?:(?:an|any|a) )?(?P<other>.+)"
)
_MORE = re.compile(r"are there (?P<kind>more|fewer|less) (?P<one>.+?) than (?P<two>.+)")
_LARGEST = re.compile(r"(?:largest|biggest) (?P<what>.+)")
_LEFTMOST = re.compile(r"(?:leftmost (?P<one>.+)|(?P<two>.+) (?:farthest|furthest|most) (?:to )?left)")


def find_program_reply(messages: Sequence[Message]) -> Reply | None:
    """The reply to a prompt about a visual program, or None to any other."""
    text = messages[-1].text if messages else ""
    task = _TASK.search(text)
    if task:
        return Reply(_fence(_templates(task["question"], task["signature"])[0]))
    case = _CASE.fullmatch(text)
    return _ROLES[case["asked"]](case) if case else None


def _judge(case: re.Match[str]) -> Reply:
    if not _has_failed(case):
        return Reply(load("offline/no_verdict.md").strip(), finish="refusal")
    return Reply(f"wrong\n{_with_mark(case['program'], _faulty_line(case))}")


def _judge_by_block(case: re.Match[str]) -> Reply:
    numbers = [int(each) for each in re.findall(r"^BLOCK (\d+)$", case["program"], re.MULTILINE)]
    failed = {max(numbers, default=0)} if _has_failed(case) else set()
    return Reply(
        "\n".join(f"BLOCK {number}: {'wrong' if number in failed else 'right'}" for number in numbers)
    )


def _refine(case: re.Match[str]) -> Reply:
    """The template after the one that was tried, or the last one again."""
    program = _MARKS.sub("", case["program"])
    signature = next((line for line in program.splitlines() if line.startswith("def ")), "")
    templates = _templates(case["question"], signature)
    at = next((at for at, each in enumerate(templates) if _is_same(each, program)), len(templates))
    return Reply(_fence(templates[min(at + 1, len(templates) - 1)]))


_ROLES: Mapping[str, Callable[[re.Match[str]], Reply]] = {
    "Program is": _judge,
    "Blocks are": _judge_by_block,
    "Correction": _refine,
}


def _has_failed(case: re.Match[str]) -> bool:
    trace = case["trace"]
    failed = trace is not None and ("Call ended by exception" in trace or trace.startswith("Compile Error"))
    return failed or (trace is not None and case["result"].strip() in ("", "None"))


def _faulty_line(case: re.Match[str]) -> int:
    raised = _EXCEPTION.findall(case["trace"] or "")
    lines = len(case["program"].splitlines())
    return min(int(raised[-1]), lines) if raised else lines


def _with_mark(program: str, number: int) -> str:
    lines = program.splitlines()
    line = lines[number - 1]
    code = line.lstrip()
    lines[number - 1] = f"{line[: len(line) - len(code)]}<<<BUG>>>{code}<<<BUG/>>>"
    return "\n".join(lines)


def _is_same(one: str, other: str) -> bool:
    try:
        return ast.dump(parse_source(one)) == ast.dump(parse_source(other))
    except SyntaxError:
        return False


def _fence(program: str) -> str:
    return f"```python\n{program}\n```"


def _templates(question: str, signature: str) -> list[str]:
    """Programs for a question, the simplest last."""
    if "image_dict" in signature or "image_list" in signature:
        bodies = _of_several(question, "image_dict.values()" if "image_dict" in signature else "image_list")
    elif "ImagePatch" in signature.partition("->")[2]:
        bodies = _of_a_place(question)
    else:
        bodies = [*_of_one(question), f"return image_patch.simple_query({question!r})"]
        bodies = [f"image_patch = ImagePatch(image)\n{body}" for body in bodies]
    return ["\n".join([signature, *(f"    {line}" for line in body.splitlines())]) for body in bodies]


def _of_one(question: str) -> list[str]:
    asked = read_question(question, 1)
    if asked.counted:
        name = _singular(asked.counted)
        return [f"{_variable(name)} = image_patch.find({name!r})\nreturn str(len({_variable(name)}))"]
    more, colour, exists = (form.fullmatch(asked.plain) for form in (_MORE, _COLOUR, _EXISTS))
    if more:
        return [_comparison(more)]
    if colour:
        name, patches = _singular(colour["what"]), _variable(_singular(colour["what"]))
        return [
            f"{patches} = image_patch.find({name!r})\n"
            f"if not {patches}:\n    return image_patch.simple_query({question!r})\n"
            f"return {patches}[0].simple_query({question!r})"
        ]
    if exists:
        name = _singular(exists["what"] or exists["other"])
        return [
            f"{_variable(name)} = image_patch.find({name!r})\nreturn bool_to_yesno(len({_variable(name)}) > 0)"
        ]
    return []


def _comparison(more: re.Match[str]) -> str:
    one, two = _singular(more["one"]), _singular(more["two"])
    sign = ">" if more["kind"] == "more" else "<"
    return (
        f"{_variable(one)} = image_patch.find({one!r})\n{_variable(two)} = image_patch.find({two!r})\n"
        f"return bool_to_yesno(len({_variable(one)}) {sign} len({_variable(two)}))"
    )


def _of_a_place(question: str) -> list[str]:
    plain = read_question(question.removeprefix("Find "), 1).plain
    largest, leftmost = _LARGEST.fullmatch(plain), _LEFTMOST.fullmatch(plain)
    key, name = "", plain
    if largest:
        key, name = "max(patches, key=lambda patch: patch.width * patch.height)", largest["what"]
    if leftmost:
        key, name = "min(patches, key=lambda patch: patch.left)", leftmost["one"] or leftmost["two"]
    found = f"image_patch = ImagePatch(image)\npatches = image_patch.find({_singular(name)!r})\n"
    plainest = f"{found}return patches[0] if patches else image_patch"
    return [f"{found}return {key} if patches else image_patch", plainest] if key else [plainest]


def _of_several(question: str, images: str) -> list[str]:
    """Add up the numbers of all images; ask other questions about each, and list the answers if they differ."""
    asked = read_question(question.removeprefix("Is the statement true? "), 1)
    answers = (
        f"answers = [ImagePatch(image).simple_query({question!r}) for image in {images}]\n"
        "return answers[0] if len(set(answers)) == 1 else ', '.join(answers)"
    )
    if not asked.counted:
        return [answers]
    name = _singular(re.sub(r" in (?:all|both)? ?images?$", "", asked.counted))
    return [
        f"total = 0\nfor image in {images}:\n    total += len(ImagePatch(image).find({name!r}))\nreturn str(total)",
        answers,
    ]


def _singular(plural: str) -> str:
    """`red circles` as `red circle`; words with other endings stay."""
    for ending, other in (("shes", "sh"), ("xes", "x"), ("ies", "y"), ("ss", "ss"), ("s", "")):
        if plural.endswith(ending):
            return plural.removesuffix(ending) + other
    return plural


def _variable(name: str) -> str:
    return "_".join([*re.findall(r"[a-z]+", name)[-1:], "patches"]) if name.isascii() else "patches"
