"""Is an answer lost, or changed, by the form of a reply? `python -m benchmarks.reply_styles [--count 500] [--show]`

Each reply is one of the styles below around one of the answers, after one of the openings: drawn with a fixed seed. The
roles read it as in a run: `solver` (direct, bdog without choices), `moderator` (bdog with choices), `reasoner` (the
last answer of avis). Counted are answers found as they were, changed, and not found: the role would be asked again.
The exit status is 1 if any answer was changed or not found.
Not covered: "The answer is below." or "is not visible.", since a model that is still at work says this too.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyvision.strategies.avis.roles import read_short
from pyvision.strategies.bdog.roles import find_choice
from pyvision.text.answers import read_answer
from pyvision.types import Answer, Reply

STYLES = (  # {} is the answer
    r"\boxed{{{}}}", r"$\boxed{{{}}}$", r"\[ \boxed{{{}}} \]", r"$$\boxed{{\text{{{}}}}}$$", r"\boxed{{\mathrm{{{}}}}}",
    r"\boxed{{'{}'}}", r'\boxed{{"{}"}}', r"\boxed{{**{}**}}", r"**\boxed{{{}}}**", r"\boxed{{ {} }}",
    "\\boxed{{{}}}.\n\nThis is what the image shows.", "<answer>{}</answer>", "<answer>\n{}\n</answer>",
    "<answer>\n\\boxed{{{}}}\n</answer>", "<answer>**{}**</answer>", "<ANSWER>{}</ANSWER>",
    "Final answer: {}", "**Final Answer:** {}", "**Final Answer: {}**", "**Final answer**: `{}`",
    "### Final Answer\n\n{}", "### Final Answer\n**{}**", "## Answer\n\nFinal answer: {}", "FINAL ANSWER = {}",
    "*Final answer:* {}", "> Final answer: {}", "- **Final Answer:** {}", "Final answer:\n{}",
    "4. **Final answer:** {}",
    "The final answer is: {}", "My final answer is {}", "Answer: {}", "**Answer:** {}", "Answer:\n{}", "**Answer: {}**",
    "The answer is {}.", "The answer is **{}**.", "So the answer is **{}**.", "Therefore, the correct answer is {}.",
    "✅ **Final answer: {}**", "答案：{}", "最终答案：{}",
)  # fmt: skip
OPENINGS = (
    "", "I looked at the image step by step.\n\n", "1. There are two parts.\n2. The left one is larger.\n\n",
    "<think>Is it a cat? Or \\boxed{9}? No.</think>\n", "Let me look at it first. It is bright, e.g. at the top.\n\n",
)  # fmt: skip
ANSWERS = (
    "7", "3.14", "1,200", "-5", "1/2", "50%", "42 cm", "yes", "no", "true", "a red car", "the left one", "Paris",
    "Washington, D.C.", "J. F. K.", "5 p.m.", "8 Main St.", "Ph.D.", "it's blue", "red, green and blue", "Coca-Cola",
    "[10, 20, 30, 40]", "3:45", "x = 4", "NaCl", "incorrect", "above",
)  # fmt: skip
CHOICES = ("the red car", "the blue car", "both cars", "a van")
PICKS = ("{0}", "({0})", "{0}.", "{0})", "{0}. {1}", "({0}) {1}", "{1}")


@dataclass(frozen=True, slots=True)
class Case:
    """A reply, and the answer that it gives."""

    reply: str
    answer: str


def free_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Replies with answers in words of their own, all styles in turn."""
    draw = random.Random(seed)
    for number in range(count):
        answer = draw.choice(ANSWERS)
        style = STYLES[number % len(STYLES)]
        yield Case(draw.choice(OPENINGS) + style.format(answer), answer)


def choice_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Replies that choose one of CHOICES, by its letter, its text, or both."""
    draw = random.Random(seed)
    for number in range(count):
        place = draw.randrange(len(CHOICES))
        letter = "ABCD"[place]
        picked = draw.choice(PICKS).format(letter, CHOICES[place])
        yield Case(draw.choice(OPENINGS) + STYLES[number % len(STYLES)].format(picked), letter)


def _solver(reply: str) -> str | None:
    found = read_answer(Reply(reply))
    return found.text if isinstance(found, Answer) else None


def _reasoner(reply: str) -> str | None:
    found = read_short(Reply(reply))
    return found.text if found else None


def _moderator(reply: str) -> str | None:
    return find_choice(reply, CHOICES).letter


Reader = Callable[[str], str | None]
ROLES: Mapping[str, tuple[Callable[[int], Iterator[Case]], Reader]] = {
    "solver": (free_cases, _solver),
    "reasoner": (free_cases, _reasoner),
    "moderator": (choice_cases, _moderator),
}


def judge(case: Case, found: str | None) -> str:
    """Whether the answer was found exactly as it is."""
    if found is None:
        return "not found"
    return "found" if found == case.answer else "changed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each role."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reply_styles")
    parser.add_argument("--count", type=int, default=500, help="replies of each role (default 500)")
    parser.add_argument(
        "--show", action="store_true", help="print the replies whose answer is lost or changed"
    )
    options = parser.parse_args(arguments)
    spoiled = 0
    for role, (cases, read) in ROLES.items():
        results = [(case, read(case.reply)) for case in cases(options.count)]
        verdicts = Counter(judge(case, found) for case, found in results)
        spoiled += verdicts["changed"] + verdicts["not found"]
        counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in ("found", "changed", "not found"))
        print(f"{role:<12}{len(results)} replies in {len(STYLES)} styles: {counts}")
        for case, found in results if options.show else ():
            if judge(case, found) != "found":
                print(f"   {case.answer!r} read as {found!r} in {case.reply!r}")
    return 1 if spoiled else 0


if __name__ == "__main__":
    raise SystemExit(main())
