"""Generated replies to each role, with the decision that each one states: drawn from a random generator."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.reply_styles import forms
from benchmarks.reply_styles.forms import Fields
from pyvision.strategies.avis.actions import Action
from pyvision.strategies.vdebugger.programs import canonical
from pyvision.strategies.vdebugger.trace_format import blocks_of

ANSWERS = (
    "7", "3.14", "1,200", "-5", "1/2", "50%", "42 cm", "yes", "no", "true", "a red car", "the left one", "Paris",
    "Washington, D.C.", "J. F. K.", "5 p.m.", "8 Main St.", "Ph.D.", "it's blue", "red, green and blue", "Coca-Cola",
    "[10, 20, 30, 40]", "3:45", "x = 4", "NaCl", "incorrect", "above",
)  # fmt: skip
CHOICES = ("the red car", "the blue car", "both cars", "a van")
PICKS = ("{0}", "({0})", "{0}.", "{0})", "{0}. {1}", "({0}) {1}", "{1}")
SHORT = (
    "7",
    "1988",
    "42 cm",
    "yes",
    "no",
    "a red car",
    "Paris",
    "Vell Lighthouse",
    "Coca-Cola",
    "J. F. K.",
    "blue",
)
QUERIES = (
    "when was the Vell Lighthouse built?",
    "height of the stag beetle in cm",
    "who designed the poster?",
)
THINGS = ("mug", "red kite", "traffic light", "dog")
SUCCESSORS: tuple[Action, ...] = ("llm_qa", "web_search", "object_select")
SIGNATURE = "def execute_command(image) -> str:"
QUESTION = "how many are there?"
PROGRAMS = (
    "    image_patch = ImagePatch(image)\n    patches = image_patch.find('{0}')\n    return str(len(patches))",
    "    image_patch = ImagePatch(image)\n    for patch in image_patch.find('{0}'):\n"
    "        if patch.verify_property('{0}', 'red'):\n            return 'yes'\n    return 'no'",
    "    image_patch = ImagePatch(image)\n    patches = image_patch.find('{0}')\n    if len(patches) == 0:\n"
    "        return image_patch.simple_query('{1}?')\n    patches.sort(key=lambda patch: patch.horizontal_center)\n"
    "    return patches[0].simple_query('What is on the {0}?')",
    "    image_patch = ImagePatch(image)\n    count = 0\n    while count < 3:\n        count += 1\n"
    "    return bool_to_yesno(image_patch.exists('{0}') and count > 2)",
)  # fmt: skip
EXECUTED = canonical(f"{SIGNATURE}\n{PROGRAMS[2].format(THINGS[0], 'What is it')}", SIGNATURE).text
PARTS = (
    "patches[0]",
    "len(patches) == 0",
    "key=lambda patch: patch.horizontal_center",
    "'What is on the mug?'",
)
CELLS = (
    "print(image_clue_0.size)",
    "crop = image_clue_0.crop((10, 20, 30, 40))\ncrop.show()",
    "total = 0\nfor row in range(3):\n    if row % 2 == 0:\n        total += row\nprint(f'total: {total}')",
    "import numpy as np\n\nprint(np.asarray(image_clue_0).mean())",
)
PLANS = len(forms.FIELDS_IN) + len(forms.PLANS_IN)


@dataclass(frozen=True, slots=True)
class Case:
    """A reply, and the decision that it states."""

    reply: str
    decision: str


def answer(draw: random.Random, number: int, styles: Sequence[str] = forms.ANSWERS_IN) -> Case:
    """A reply with an answer."""
    answer = draw.choice(ANSWERS)
    return Case(
        draw.choice(forms.OPENINGS) + forms.fill(styles[number % len(styles)], **{"": answer}), answer
    )


def short_answer(draw: random.Random, number: int) -> Case:
    """A tool's reply to a short question."""
    styles = (*forms.BARE_IN, *forms.ANSWERS_IN)
    answer, style = draw.choice(ANSWERS), styles[number % len(styles)]
    opening = "" if number % len(styles) < len(forms.BARE_IN) else draw.choice(forms.OPENINGS)
    return Case(opening + forms.fill(style, **{"": answer}), answer)


def choice(draw: random.Random, number: int) -> Case:
    """A reply that chooses one of CHOICES by its letter, its text or both."""
    place = draw.randrange(len(CHOICES))
    picked = draw.choice(PICKS).format("ABCD"[place], CHOICES[place])
    style = forms.ANSWERS_IN[number % len(forms.ANSWERS_IN)]
    return Case(draw.choice(forms.OPENINGS) + forms.fill(style, **{"": picked}), "ABCD"[place])


def truth(draw: random.Random, number: int) -> Case:
    """A reply that says yes or no."""
    word = draw.choice(("yes", "no"))
    spelled = draw.choice((word, word.title(), word.upper()))
    text = forms.fill(forms.TRUTHS_IN[number % len(forms.TRUTHS_IN)], **{"": spelled})
    return Case(
        text.replace("no, it does", "no, it does not").replace("No, it does", "No, it does not"), word
    )


def plan(draw: random.Random, number: int) -> Case:
    """A planner's reply: an action, with its query if it takes one, or that enough is known."""
    if draw.random() < 0.2:
        return Case(_labelled(draw, number, [("Action", "answer")]), "enough")
    action, query = draw.choice(SUCCESSORS), draw.choice(QUERIES)
    if action == "object_select":
        return Case(_labelled(draw, number, [("Action", action)]), action)
    decision, place = f"{action}: {query}", number % PLANS - len(forms.FIELDS_IN)
    if place >= 0:
        return Case(forms.fill(forms.PLANS_IN[place], a=action, q=query), decision)
    return Case(_labelled(draw, number, [("Action", action), ("Query", query)]), decision)


def decomposition(draw: random.Random, number: int) -> Case:
    """The two parts of a question."""
    parts = draw.choice(
        (("which lighthouse is this?", "when was # built?"), ("what colour is the kite?", "#"),
         ("which bird is it", "the weight of # in g"))
    )  # fmt: skip
    return Case(
        _labelled(draw, number, list(zip(("Visual", "Knowledge"), parts, strict=True))), " / ".join(parts)
    )


def chosen_object(draw: random.Random, number: int) -> Case:
    """A selector's reply: the number of an object."""
    chosen = draw.choice("01234")
    lead = draw.choice(("", "The question asks about the one on the left.\n", "Objects 2 and 3 are dogs.\n"))
    return Case(lead + forms.FIELDS_IN[number % len(forms.FIELDS_IN)]([("Object", chosen)]), chosen)


def judgement(draw: random.Random, number: int) -> Case:
    """A reasoner's verdict, with its finding and its answer."""
    think, finding = ("Think", "The title names the lighthouse."), ("Finding", "it resembles Vell Lighthouse")
    match draw.choice(("not informative", "informative", "answerable")):
        case "answerable":
            answer = draw.choice(SHORT)
            fields = [think, finding, ("Sources", "1"), ("Verdict", "answerable"), ("Answer", answer)]
            return Case(_labelled(draw, number, fields), f"answerable: {answer} [{finding[1]}]")
        case "informative":
            fields = [think, finding, ("Verdict", "informative")]
            return Case(_labelled(draw, number, fields), f"informative [{finding[1]}]")
        case _:
            fields = [("Think", "This is another town."), ("Verdict", "not informative")]
            return Case(_labelled(draw, number, fields), "not informative []")


def draft(draw: random.Random, number: int) -> Case:
    """A program."""
    program = _program(draw)
    return Case(forms.program_in(number, program, f"Given an image: {QUESTION}"), program)


def verdict(draw: random.Random, number: int) -> Case:
    """A critic's verdict on EXECUTED, with the mark of the fault."""
    if draw.random() < 0.4:
        return Case(forms.RIGHT_IN[number % len(forms.RIGHT_IN)], "right")
    part = draw.choice(PARTS)
    return Case(forms.wrong_in(number, EXECUTED, part, f"Given an image: {QUESTION}"), f"wrong: {part}")


def correction(draw: random.Random, number: int) -> Case:
    """A critic's verdict that EXECUTED is wrong, and the corrected program under a heading."""
    part, program, query = draw.choice(PARTS), _program(draw), f"Given an image: {QUESTION}"
    wrong = forms.wrong_in(number, EXECUTED, part, query)
    heading = forms.CORRECTIONS_IN[number % len(forms.CORRECTIONS_IN)]
    written = forms.program_in(draw.randrange(len(forms.PROGRAMS_IN)), program, query)
    return Case(f"{wrong}\n\n{heading}\n{written}", f"wrong: {part}\n{program}")


def blocks(draw: random.Random, number: int) -> Case:
    """A verdict on each block of EXECUTED; the decision is the first that is wrong."""
    words = [draw.choice(("right", "right", "wrong")) for _ in blocks_of(EXECUTED)]
    first = next((str(place) for place, word in enumerate(words, 1) if word == "wrong"), "none")
    return Case(forms.blocks_in(number, words), first)


def self_debug(draw: random.Random, number: int) -> Case:
    """A coder's judgement of its own program: right, or another program."""
    if draw.random() < 0.4:
        return Case(forms.RIGHT_IN[number % len(forms.RIGHT_IN)], "right")
    return draft(draw, number)


def graph(draw: random.Random, number: int) -> Case:
    """A graph of three entities and a relation."""
    names = draw.sample(THINGS, 3)
    colours = [draw.choice(("red", "dark green")) for _ in names]
    relation = draw.choice(("left of", "holding"))
    text = forms.graph_in(number, names, colours, relation)
    items = [f"{name}: colour={colour}" for name, colour in zip(names, colours, strict=True)]
    return Case(text, "; ".join([*sorted(items), f"{names[0]} {relation} {names[1]}"]))


def cell(draw: random.Random, number: int) -> Case:
    """A cell."""
    code = draw.choice(CELLS)
    opening = draw.choice(("", "", "Let me look at it first.\n\n", "<think>Is it a cat? `cat = 1`</think>\n"))
    return Case(opening + forms.cell_in(number, code), code)


def _labelled(draw: random.Random, number: int, fields: Fields) -> str:
    return draw.choice(forms.OPENINGS) + forms.FIELDS_IN[number % len(forms.FIELDS_IN)](fields)


def _program(draw: random.Random) -> str:
    body = draw.choice(PROGRAMS).format(draw.choice(THINGS), draw.choice(QUERIES).rstrip("?"))
    return canonical(f"{SIGNATURE}\n{body}", SIGNATURE).text
