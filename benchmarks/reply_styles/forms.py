r"""The forms in which models write what a role is asked for: tables of styles, and a function that fills one in.

`ANSWERS_IN` wraps an answer, `fields` writes labelled lines, `PROGRAMS_IN` wraps a program, `WRONG_IN` and `RIGHT_IN`
are verdicts on a program, `BLOCKS_IN` those on its blocks, `GRAPHS_IN` wraps a graph, `CELLS_IN` a cell, `TRUTHS_IN` a
yes or a no. Every table has at least 40 styles; the places to fill in are in « ».
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pyvision.strategies.vdebugger.trace_format import Block
from pyvision.types import Sampling, Source

Fields: TypeAlias = Sequence[tuple[str, str]]
NO_SAMPLING = Sampling()
SOURCES = (Source("Vell Lighthouse", "vell"),)

OPENINGS = (
    "", "I looked at the image step by step.\n\n", "1. There are two parts.\n2. The left one is larger.\n\n",
    "<think>Is it a cat? Or \\boxed{9}? No.</think>\n", "Let me look at it first. It is bright, e.g. at the top.\n\n",
)  # fmt: skip
ANSWERS_IN = (
    r"\boxed{«»}", r"$\boxed{«»}$", r"\[ \boxed{«»} \]", r"$$\boxed{\text{«»}}$$", r"\boxed{\mathrm{«»}}",
    r"\boxed{'«»'}", r'\boxed{"«»"}', r"\boxed{**«»**}", r"**\boxed{«»}**", r"\boxed{ «» }",
    "\\boxed{«»}.\n\nThis is what the image shows.", "<answer>«»</answer>", "<answer>\n«»\n</answer>",
    "<answer>\n\\boxed{«»}\n</answer>", "<answer>**«»**</answer>", "<ANSWER>«»</ANSWER>",
    "Final answer: «»", "**Final Answer:** «»", "**Final Answer: «»**", "**Final answer**: `«»`",
    "### Final Answer\n\n«»", "### Final Answer\n**«»**", "## Answer\n\nFinal answer: «»", "FINAL ANSWER = «»",
    "*Final answer:* «»", "> Final answer: «»", "- **Final Answer:** «»", "Final answer:\n«»",
    "4. **Final answer:** «»",
    "The final answer is: «»", "My final answer is «»", "Answer: «»", "**Answer:** «»", "Answer:\n«»", "**Answer: «»**",
    "The answer is «».", "The answer is **«»**.", "So the answer is **«»**.", "Therefore, the correct answer is «».",
    "✅ **Final answer: «»**", "答案：«»", "最终答案：«»",
)  # fmt: skip
BARE_IN = ("«»", "«».", "**«»**", "`«»`", '"«»"', "\n«»\n", "*«»*", "**«»**.")
TRUTHS_IN = (
    "«»", "«».", "«»!", "**«»**", "**«».**", "*«»*", "`«»`", '"«»"', "'«»'", "«», it does.", "«», the object has it.",
    "«» - it is clearly visible.", "«» — it is clearly visible.", "«»: it is clearly visible.", "«»\n\nIt can be seen.",
    "**«»**, it can be seen.", "Answer: «»", "Answer: «».", "**Answer:** «»", "**Answer: «»**", "Answer:\n«»",
    "The answer is «».", "The answer is: **«»**.", "The answer is «», as the picture shows.", "So, «».", "> «»", "# «»",
    "- «»", "1. «»", r"\boxed{«»}", r"$\boxed{\text{«»}}$", "<answer>«»</answer>", '{"answer": "«»"}',
    "```\n«»\n```", '```json\n{"answer": "«»"}\n```', "Final answer: «»", "**Final Answer:** «»",
    "The object has a clear outline. «».", "The object is in the middle.\n\n«»", "I would say «».",
    "It is hard to say at this size, but «».", "✅ «»", "(«»)", "[«»]", "My answer: «»",
)  # fmt: skip

_LINES = (  # «l» is the label, «L» and «k» the same in capitals and small letters, «v» the value, «n» the number
    "«l»: «v»", "**«l»:** «v»", "**«l»**: «v»", "**«l»: «v»**", "- «l»: «v»", "- **«l»:** «v»", "* **«l»**: «v»",
    "• «l»: «v»", "«n». «l»: «v»", "«n». **«l»:** «v»", "«n») «l»: «v»", "(«n») «l»: «v»", "> «l»: «v»",
    "> **«l»:** «v»", "*«l»:* «v»", "__«l»:__ «v»", "`«l»: «v»`", "«l»: `«v»`", "«l»: **«v»**", "«l»: *«v»*",
    '«l»: "«v»"', "«l» = «v»", "«l» - «v»", "«l» – «v»", "«l» : «v»", "«l»：«v»", "«l»:\t«v»", "  «l»: «v»",
    "«L»: «v»", "«k»: «v»", "«k»: '«v»'", "«l»:\n«v»", "«l»:\n\n«v»\n", "**«l»**\n«v»\n", "**«l»:**\n«v»\n",
    "**«l»**\n\n«v»\n", "### «l»\n«v»\n", "## «l»:\n\n«v»\n", "### «n». «l»\n«v»\n", "#### **«l»**\n«v»\n",
    "- **«l»**\n  «v»", "[«l»] «v»", "[«l»]: «v»", "→ «l»: «v»", "✅ «l»: «v»", "<«k»>«v»</«k»>", "<«k»>\n«v»\n</«k»>",
)  # fmt: skip


def fill(style: str, **values: str) -> str:
    """The style with each value at its place; the name of «» is empty."""
    for name, value in values.items():
        style = style.replace(f"«{name}»", value)
    return style


def _in_lines(line: str) -> Callable[[Fields], str]:
    return lambda fields: "\n".join(
        fill(line, l=label, L=label.upper(), k=label.lower(), n=str(number), v=value)
        for number, (label, value) in enumerate(fields, 1)
    )


def _fenced(language: str, write: Callable[[Fields], str]) -> Callable[[Fields], str]:
    return lambda fields: f"```{language}\n{write(fields)}\n```"


def _small(fields: Fields) -> dict[str, str]:
    return {label.lower(): value for label, value in fields}


def _json(fields: Fields) -> str:
    return json.dumps(_small(fields))


def _json_in_lines(fields: Fields) -> str:
    return json.dumps(_small(fields), indent=2)


def _json_in_list(fields: Fields) -> str:
    return json.dumps([_small(fields)])


def _json_in_capitals(fields: Fields) -> str:
    return json.dumps(dict(fields))


def _json_inside(fields: Fields) -> str:
    return json.dumps({"response": _small(fields)})


def _python(fields: Fields) -> str:
    return repr(_small(fields))


def _wide_table(fields: Fields) -> str:
    names, values = (" | ".join(cells) for cells in zip(*fields, strict=True))
    return f"| {names} |\n|{'---|' * len(fields)}\n| {values} |"


def _long_table(fields: Fields) -> str:
    return "| Field | Value |\n|---|---|\n" + "\n".join(f"| {label} | {value} |" for label, value in fields)


def _bold_table(fields: Fields) -> str:
    return "| Field | Value |\n|---|---|\n" + "\n".join(
        f"| **{label}** | {value} |" for label, value in fields
    )


def _one_line(sign: str) -> Callable[[Fields], str]:
    return lambda fields: sign.join(f"{label}: {value}" for label, value in fields)


_PLAIN = _in_lines(_LINES[0])
FIELDS_IN: tuple[Callable[[Fields], str], ...] = (
    *map(_in_lines, _LINES),
    _json, _json_in_lines, _json_in_list, _json_in_capitals, _json_inside, _python,
    _fenced("json", _json_in_lines), _fenced("", _json), _fenced("", _PLAIN), _fenced("text", _PLAIN),
    _fenced("yaml", _in_lines("«k»: «v»")), _wide_table, _long_table, _bold_table, _one_line(" | "), _one_line("; "),
)  # fmt: skip

PLANS_IN = (  # «a» is the action, «q» the query
    '«a»("«q»")', 'Action: «a»("«q»")', 'Action: «a»(query="«q»")', "Action: «a»[«q»]", "**Action:** `«a»(\"«q»\")`",
    "Thought: I have to look it up.\nAction: «a»\nAction Input: «q»", '{"action": "«a»", "action_input": "«q»"}',
    '{"action": {"name": "«a»", "query": "«q»"}}', "I take this step:\n\n```\nAction: «a»\nQuery: «q»\n```",
)  # fmt: skip
PROGRAMS_IN = (  # «p» is the program, «b» its body, «q» the question as the prompt has it, others write the program
    "```python\n«p»\n```", "```python\n«p»\n```\n", "```py\n«p»\n```", "```Python\n«p»\n```", "```python3\n«p»\n```",
    "```\n«p»\n```", "~~~python\n«p»\n~~~", "~~~\n«p»\n~~~", "````python\n«p»\n````", "«p»", "«p»\n", "\n\n«p»\n\n",
    "Here is the program:\n\n```python\n«p»\n```", "Here is the program:\n\n«p»",
    "```python\n«p»\n```\n\nThe function finds the objects first.", "«p»\n\nThe function finds the objects first.",
    "**Program**\n\n```python\n«p»\n```", "## Program\n```python\n«p»\n```\n## Explanation\nIt looks at each object.",
    "```python\n# «q»\n«p»\n```", "# «q»\n«p»", "```python\n«p»\n", "```python\n«p»\n\n# Program is\nright\n```",
    "```python\n«p»\n\nexecute_command(image)\n```", "```python\n«p»\n\nprint(execute_command(image))\n```",
    "<code>\n«p»\n</code>",
    "<code>\n```python\n«p»\n```\n</code>", "<program>\n«p»\n</program>", "<answer>\n```python\n«p»\n```\n</answer>",
    "<answer>\n«p»\n</answer>", "```python\n«p»\n```\n\nCall it with:\n\n```python\nexecute_command(image)\n```",
    "First the objects:\n\n```python\nImagePatch(image).find('x')\n```\n\nThe program:\n\n```python\n«p»\n```",
    "1. Find the objects.\n2. Compare them.\n\n```python\n«p»\n```", "  ```python\n  «i»\n  ```",
    "- Program:\n\n  ```python\n  «i»\n  ```", "python\n«p»",
    "```python\n«c»\n```", "```python\n«d»\n```", "```python\n«t»\n```", "```python\n«w»\n```", "```python\n«m»\n```",
    '{"program": «j»}', '```json\n{"code": «j»}\n```', "```python\n«b»\n```", "«b»", "```tool_code\n«p»\n```",
    "Sure! The answer needs two steps.\n```python\n«p»\n```\nLet me know if anything is unclear.",
)  # fmt: skip
RIGHT_IN = (
    "right", "Right", "Right.", "RIGHT", "**right**", "**Right.**", "`right`", '"right"', "right\n", "# right",
    "right.\n\nThe program counts the objects, as asked.", "right - it counts the objects.", "correct", "Correct.",
    "**Correct**", "The program is right.", "The program is correct.", "This program is right.", "The code is right.",
    "Verdict: right", "**Verdict:** right", "**Verdict: Right**", "Answer: right", "Program is right",
    "# Program is right",
    "# Program is\nright", "### Verdict\nright", "### Verdict\n\n**Right**", r"\boxed{right}", "<answer>right</answer>",
    '{"verdict": "right"}', '```json\n{"verdict": "right"}\n```', "```\nright\n```", "✅ Right", "✅ right.",
    "I think the program is right.", "Yes, the program is right.", "The program does what is asked: it is right.",
    "The program finds the objects and counts them, so it is right.", "> right", "- right",
    "The program is right, since it returned 3.",
    "The trace shows three objects.\n\nright",
    "The trace shows three objects, and the program counts all of them.\n\n**right**",
)  # fmt: skip
WRONG_IN = (  # «m» is the program with a mark, «s» the marked part alone
    "wrong\n«m»", "wrong\n\n«m»", "Wrong\n«m»", "Wrong.\n\n«m»", "WRONG\n«m»", "**wrong**\n«m»", "**Wrong**\n\n«m»",
    "wrong\n```python\n«m»\n```", "wrong\n\n```python\n«m»\n```", "Wrong.\n\n```\n«m»\n```", "wrong:\n«m»",
    "`wrong`\n\n«m»", "incorrect\n«m»", "Incorrect.\n\n```python\n«m»\n```", "# wrong\n«m»",
    "wrong\n~~~python\n«m»\n~~~",
    "The program is wrong.\n\n«m»", "The program is wrong:\n\n```python\n«m»\n```", "Verdict: wrong\n\n«m»",
    "**Verdict:** wrong\n\n```python\n«m»\n```", "### Verdict\nwrong\n\n### Program\n```python\n«m»\n```",
    "# Program is wrong\n«m»", "# Program is\nwrong\n«m»", "❌ Wrong\n\n«m»", "The program is not right.\n\n«m»",
    "The program is not correct:\n\n```python\n«m»\n```", "wrong\n«s»", "wrong\n\nThe faulty part is «s».",
    "Wrong. The mark is at `«s»`.", "wrong\n```python\n«s»\n```", "«m»", "```python\n«m»\n```",
    "wrong\n«m»\n\nIt counts the wrong objects.", "wrong\n\nIt looks for another object.\n\n```python\n«m»\n```",
    "Wrong: it looks for another object.\n\n«m»",
    "I think the program is wrong, since it looks for another object.\n\n«m»",
    "wrong\n# «q»\n«m»", "wrong\n```python\n# «q»\n«m»\n```", "wrong\n«e»", "wrong\n```python\n«e»\n```", "wrong\n«z»",
    "wrong\n```python\n«z»\n```", "- wrong\n\n«m»", "> wrong\n\n«m»", "wrong\n«u»",
)  # fmt: skip
CORRECTIONS_IN = (
    "# Correction", "## Correction", "**Correction**", "Correction:", "### Corrected program", "**Corrected program:**",
    "The corrected program:", "Here is the corrected program:", "# Correction\n", "# Corrected Program",
    "The correction:", "`# Correction`", "1. Correction",
)  # fmt: skip
BLOCKS_IN = (  # «n» is the number of a block, «w» right or wrong, «W» the same with a capital
    "BLOCK «n»: «w», it finds the cups", "BLOCK «n»: «w»", "Block «n»: «w»", "block «n»: «w»", "BLOCK «n» - «w»",
    "BLOCK «n» – «w»", "BLOCK «n» — «w», it finds the cups", "BLOCK «n» is «w»", "BLOCK «n» is «w».", "BLOCK «n»: «W»",
    "BLOCK «n»: «W».", "BLOCK «n»: «W». It finds the cups.", "**BLOCK «n»:** «w»",
    "**BLOCK «n»**: «w», it finds the cups",
    "**BLOCK «n»: «w»**", "**Block «n»** — **«w»**", "- BLOCK «n»: «w»", "- **BLOCK «n»**: «w»", "* Block «n»: «w»",
    "• Block «n»: «w»", "«n». BLOCK «n»: «w»", "«n». **Block «n»:** «w»", "«n». «w»", "«n»: «w»",
    "«n») «w», it finds the cups",
    "### BLOCK «n»\n«w»", "### Block «n»: «w»", "## BLOCK «n»\n\n**«W»**", "BLOCK «n»:\n«w»", "BLOCK «n»: **«w»**",
    "BLOCK «n»: `«w»`", 'BLOCK «n»: "«w»"', "BLOCK «n» = «w»", "BLOCK #«n»: «w»", "[BLOCK «n»] «w»", "(BLOCK «n») «w»",
    "> BLOCK «n»: «w»", "`BLOCK «n»: «w»`", "BLOCK_«n»: «w»", "BLOCK«n»: «w»", "| BLOCK «n» | «w» |", "| «n» | «w» |",
    "BLOCK «n» → «w»", "# BLOCK «n»: «w»", "BLOCK «n»：«w»",
)  # fmt: skip
GRAPHS_IN = (  # «j» is the graph in one line, «J» in several
    "«j»", "«J»", "```json\n«J»\n```", "```json\n«j»\n```", "```\n«J»\n```", "```JSON\n«J»\n```", "~~~json\n«J»\n~~~",
    "Here is the graph:\n\n«J»", "Here is the graph:\n\n```json\n«J»\n```\n\nIt leaves out the background.",
    "**Graph**\n\n«J»", "## Graph\n```json\n«J»\n```", "<graph>\n«J»\n</graph>", "<answer>\n«J»\n</answer>",
    "[«j»]", '{"graph": «j»}', '{"scene_graph": «J»}', "json\n«J»", "graph = «j»", "```python\ngraph = «J»\n```",
    "«J»\n\nI changed two attributes.",
)  # fmt: skip
CELLS_IN = (  # «c» is the code, «j» the same as a text of JSON
    "<code>\n```python\n«c»\n```\n</code>", "<code>\n«c»\n</code>", "<code>```python\n«c»\n```</code>",
    "<code>\n```python\n«c»\n```", "```python\n«c»\n```", "```py\n«c»\n```", "```Python\n«c»\n```",
    "```python3\n«c»\n```",
    "~~~python\n«c»\n~~~", "````python\n«c»\n````", "```\n«c»\n```", "<CODE>\n```python\n«c»\n```\n</CODE>",
    "I zoom in first.\n\n<code>\n```python\n«c»\n```\n</code>", "I zoom in first.\n\n```python\n«c»\n```",
    "**Step 1**\n\n<code>\n```python\n«c»\n```\n</code>", "### Step 1\n```python\n«c»\n```",
    "<code>\n```python\n«c»\n```\n</code>\n\nThe output will tell.", "```python\n«c»\n```\n\nThe output will tell.",
    "<code>\n```py\n«c»\n```\n</code>", "<code>\n```\n«c»\n```\n</code>", "<code>\n~~~python\n«c»\n~~~\n</code>",
    "<code>\n\n```python\n\n«c»\n\n```\n\n</code>", "<code> \n```python \n«c»\n``` \n</code> ",
    "  <code>\n  ```python\n  «i»\n  ```\n  </code>", "- <code>\n```python\n«c»\n```\n</code>",
    "<python>\n«c»\n</python>", "<tool_code>\n«c»\n</tool_code>", "```tool_code\n«c»\n```",
    "<execute>\n«c»\n</execute>",
    '<tool_call>\n{"name": "python", "arguments": {"code": «j»}}\n</tool_call>',
    '<tool_call>\n{"name": "run_python", "arguments": {"code": «j»}}\n</tool_call>',
    '```json\n{"name": "python", "arguments": {"code": «j»}}\n```', "<code>\n```ipython\n«c»\n```\n</code>",
    "<code>\r\n```python\r\n«c»\r\n```\r\n</code>", "<code language=\"python\">\n«c»\n</code>", "```{python}\n«c»\n```",
    "<code>\n```python\n«c»\n```\n</code>\n<interpreter>\n7\n</interpreter>\n\\boxed{7}",
    "```python\n«c»\n```\n\nOutput:\n```\n7\n```", "1. I count.\n2. I check.\n\n<code>\n```python\n«c»\n```\n</code>",
    "Thought: I need the size.\n<code>\n```python\n«c»\n```\n</code>", "```python title=\"cell.py\"\n«c»\n```",
)  # fmt: skip


def program_in(number: int, program: str, query: str) -> str:
    """A program in one of the styles."""
    signature, _, body = program.partition("\n")
    first = body.split("\n")[0]
    return fill(
        PROGRAMS_IN[number % len(PROGRAMS_IN)],
        p=program,
        b=textwrap.dedent(body),
        q=query,
        c=f"# counts\n{signature}\n    # first\n{body}  # then",
        d=f"{signature}\n" + body.replace("    ", "  "),
        t=f"{signature}\n" + body.replace("    ", "\t"),
        w=program.replace("\n", "\r\n"),
        m=program.replace(first.strip(), f"<<<BUG>>>{first.strip()}<<<BUG/>>>", 1),
        i=program.replace("\n", "\n  "),
        j=json.dumps(program),
    )


def wrong_in(number: int, program: str, part: str, query: str) -> str:
    """The verdict that a part of a program is wrong, in one of the styles."""
    return fill(
        WRONG_IN[number % len(WRONG_IN)],
        m=program.replace(part, f"<<<BUG>>>{part}<<<BUG/>>>"),
        s=f"<<<BUG>>>{part}<<<BUG/>>>",
        e=program.replace(part, f"<<<BUG>>>{part}<<</BUG>>>"),
        z=program.replace(part, f"<<<BUG>>>{part}<<<END BUG>>>"),
        u=program.replace(part, f"<<<BUG>>>{part}<<<BUG/>>>").replace("'", '"'),
        q=query,
    )


def blocks_in(number: int, words: Sequence[str]) -> str:
    """A verdict on each block of a program, in one of the styles."""
    style = BLOCKS_IN[number % len(BLOCKS_IN)]
    lines = [fill(style, n=str(place), w=word, W=word.title()) for place, word in enumerate(words, 1)]
    return "\n".join(lines)


def cell_in(number: int, code: str) -> str:
    """A cell in one of the styles."""
    style = CELLS_IN[number % len(CELLS_IN)]
    return fill(style, c=code, j=json.dumps(code), i=code.replace("\n", "\n  "))


def graph_in(number: int, names: Sequence[str], colours: Sequence[str], relation: str) -> str:
    """A graph in one of the styles: entities with a colour each, and a relation from the first to the second."""
    written = _GRAPH_KEYS[number % len(_GRAPH_KEYS)](names, colours, relation)
    text = written if isinstance(written, str) else json.dumps(written)
    lines = written if isinstance(written, str) else json.dumps(written, indent=2)
    return fill(GRAPHS_IN[number // len(_GRAPH_KEYS) % len(GRAPHS_IN)], j=text, J=lines)


def _canonical(names: Sequence[str], colours: Sequence[str], relation: str) -> Any:
    pairs = zip(names, colours, strict=True)
    nodes = [{"id": f"n{n}", "name": name, "attributes": {"colour": c}} for n, (name, c) in enumerate(pairs)]
    return {"nodes": nodes, "edges": [{"source": "n0", "target": "n1", "relation": relation}]}


def _objects(names: Sequence[str], colours: Sequence[str], relation: str) -> Any:
    pairs = zip(names, colours, strict=True)
    objects = [{"id": n, "name": name, "attributes": {"colour": c}} for n, (name, c) in enumerate(pairs, 1)]
    return {"objects": objects, "relationships": [{"subject": 1, "object": 2, "predicate": relation}]}


def _named(names: Sequence[str], colours: Sequence[str], relation: str) -> Any:
    pairs = zip(names, colours, strict=True)
    objects = [{"name": name, "attributes": [f"colour: {c}"]} for name, c in pairs]
    return {
        "objects": objects,
        "relationships": [{"subject": names[0], "object": names[1], "relation": relation}],
    }


def _keyed(names: Sequence[str], colours: Sequence[str], relation: str) -> Any:
    objects = [{name: {"colour": c}} for name, c in zip(names, colours, strict=True)]
    return {"objects": objects, "relationships": [{"source": names[0], "target": names[1], "type": relation}]}


def _triples(names: Sequence[str], colours: Sequence[str], relation: str) -> Any:
    entities = {name: {"colour": c} for name, c in zip(names, colours, strict=True)}
    return {"entities": entities, "relations": [[names[0], relation, names[1]]]}


def _dot(names: Sequence[str], colours: Sequence[str], relation: str) -> str:
    nodes = [f'  "{name}" [colour="{c}"];' for name, c in zip(names, colours, strict=True)]
    edge = f'  "{names[0]}" -> "{names[1]}" [label="{relation}"];'
    return "\n".join(["digraph G {", *nodes, edge, "}"])


_GRAPH_KEYS = (_canonical, _objects, _named, _keyed, _triples, _dot)
GRAPHS = len(_GRAPH_KEYS) * len(GRAPHS_IN)


def block_start(program: str, block: Block) -> int:
    """Where the first line of a block starts, without its indentation."""
    lines = program.splitlines(keepends=True)
    line = lines[block.first - 1]
    return sum(map(len, lines[: block.first - 1])) + len(line) - len(line.lstrip())
