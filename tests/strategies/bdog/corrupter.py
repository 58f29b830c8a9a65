"""Write graphs as models write them, and damage them as models do: the source of `malformed.jsonl`.

python -m tests.strategies.bdog.corrupter writes the file anew. Every text is of our own making. Forms and wrappings are
drawn by the shares that were counted in the five stored files of the BDoG repository (fenced 8661, bare 3294 of 12397,
prose 430, inside a text 26); but for the prose every text is damaged, so that there is something to repair.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("malformed.jsonl")
COUNT = 260
SEED = 20240321
THINGS = (
    "dog",
    "red ball",
    "wooden table",
    "woman",
    "kite",
    "north pole",
    "magnet",
    "river",
    "sign",
    "traffic light",
)
VALUES = {
    "color": ("red", "brown", "dark green"),
    "size": ("small", "5 cm"),
    "material": ("wood", "steel"),
    "age": (3, 12),
}
WORDS = ("on", "left of", "holding", "attracts", "is behind", "part of")
PROSE = (
    "The picture shows a dog and a ball; the dog is about to jump. I would choose the second option.",
    "I'm sorry, but I can't help with that.",
    "- dog (brown)\n- ball (red)\n- the dog looks at the ball",
    "The answer is {B}.",
    "As seen in [figure 1], nothing here needs a graph.",
    "",
)
EDGE_KEYS = (  # in the order of how often they were seen; the weights only keep that order
    (("source", "target", "type"), 40),
    (("subject", "object", "type"), 14),
    (("subject", "object", "predicate"), 8),
    (("subject", "object", "relation"), 7),
    (("subject", "object", "relationship"), 7),
    (("source", "target", "relation"), 6),
    (("subject_id", "object_id", "predicate"), 4),
    (("object1", "object2", "type"), 3),
    (("from", "to", "relation"), 2),
)


def graph(rng: random.Random) -> tuple[list[dict[str, Any]], list[tuple[int, str, int]]]:
    """Things with attributes, and relations between them by their places."""
    names = rng.sample(THINGS, rng.randint(2, 5))
    objects = [
        {
            "name": name,
            "attributes": {k: rng.choice(VALUES[k]) for k in rng.sample(list(VALUES), rng.randint(0, 3))},
        }
        for name in names
    ]
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names)) if i != j]
    ends = rng.sample(pairs, rng.randint(1, min(4, len(pairs))))
    return objects, [(i, rng.choice(WORDS), j) for i, j in ends]


def written(rng: random.Random) -> tuple[Any, list[str], list[list[str]]]:
    """A graph in one of the forms seen, with what a reader must find: names and relations."""
    entities, relations = graph(rng)
    by_name = rng.random() < 0.5
    ids = [rng.choice((i + 1, f"obj{i + 1}")) for i in range(len(entities))]
    name_key = rng.choices(("name", "label", "object", "type"), (70, 10, 10, 10))[0]
    id_key = rng.choice(("id", "object_id", "objectID"))
    as_list = rng.random() < 0.4
    objects = [
        ({} if by_name else {id_key: ids[i]})
        | {name_key: t["name"], "attributes": _listed(t["attributes"]) if as_list else t["attributes"]}
        for i, t in enumerate(entities)
    ]
    first, second, word = rng.choices([keys for keys, _ in EDGE_KEYS], [w for _, w in EDGE_KEYS])[0]

    def end(place: int) -> Any:
        return entities[place]["name"] if by_name else ids[place]

    edges = [{first: end(i), second: end(j), word: relation} for i, relation, j in relations]
    names = [t["name"] for t in entities]
    return (
        _nested(rng, objects, edges),
        names,
        [[names[i], relation, names[j]] for i, relation, j in relations],
    )


def _listed(attributes: dict[str, Any]) -> list[str]:
    return [f"{key}: {value}" for key, value in attributes.items()]


def _nested(rng: random.Random, objects: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Any:
    match rng.choices(("flat", "nodes", "scene", "graph", "inside"), (60, 12, 12, 10, 6))[0]:
        case "flat":
            return {"objects": objects, "relationships": edges}
        case "nodes":
            return {"nodes": objects, "edges": edges}
        case "scene":
            return {"scene": {"objects": objects, "relationships": edges}}
        case "graph":
            return {rng.choice(("scene_graph", "sceneGraph")): {"objects": objects, "relationships": edges}}
        case _:
            return _inside(objects, edges)


def _inside(objects: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Any:
    """Every relation inside the object it starts at."""
    copies = [dict(each) for each in objects]
    for edge in edges:
        start, *_ = edge.values()
        owner = next(c for c in copies if start in c.values())
        owner.setdefault("relationships", []).append(dict(list(edge.items())[1:]))
    return {"objects": copies}


def _drop_comma(rng: random.Random, text: str) -> str:
    places = [m.start() for m in re.finditer(r",(?=\s*\n)", text)]
    return _without(text, rng.choice(places)) if places else text


def _without(text: str, place: int) -> str:
    return text[:place] + text[place + 1 :]


def _unclosed(rng: random.Random, text: str) -> str:
    places = [m.start() for m in re.finditer(r'"(?=,?\n)', text)]
    return _without(text, rng.choice(places)) if places else text


def _swapped_bracket(rng: random.Random, text: str) -> str:
    place = rng.choice([m.start() for m in re.finditer(r"\}(?=,?\n)", text)])
    return text[:place] + text[place + 1 :] if rng.random() < 0.5 else text[:place] + "]" + text[place + 1 :]


def _quoted_inside(rng: random.Random, text: str) -> str:
    return re.sub(r'"(name|label|object|type)": "(\w+) (\w+)"', r'"\1": "\2 "\3""', text, count=1)


DAMAGES: dict[str, tuple[bool, Callable[[random.Random, str], str]]] = {
    # name: (whether everything can still be read, how)
    "whole": (True, lambda rng, text: text),
    "trailing_comma": (True, lambda rng, text: re.sub(r"([}\]\"])(\s*[}\]])", r"\1,\2", text, count=3)),
    "missing_comma": (True, _drop_comma),
    "python": (True, lambda rng, text: str(json.loads(text))),
    "comment": (True, lambda rng, text: text.replace(",\n", ",  // as seen in the picture\n", 2)),
    "unquoted_keys": (True, lambda rng, text: re.sub(r'"(\w+)":', r"\1:", text)),
    "curly_quotes": (True, lambda rng, text: re.sub(r'"([^"\n]*)"', r"“\1”", text)),
    "one_line": (True, lambda rng, text: " ".join(text.split())),
    "unclosed_text": (True, _unclosed),
    "lost_closings": (True, lambda rng, text: text.rstrip("}] \n")),
    "ellipsis": (True, lambda rng, text: re.sub(r"\n(\s*)\]", r",\n\1...\n\1]", text, count=1)),
    "bracket": (False, _swapped_bracket),
    "truncated": (False, lambda rng, text: text[: rng.randint(len(text) // 3, len(text) - 8)]),
    "cut_at_350": (False, lambda rng, text: text[:350]),
}


def _wrapped(rng: random.Random, text: str) -> tuple[str, str]:
    match rng.choices(("fenced", "bare", "sliced", "in_text"), (70, 21, 6, 3))[0]:
        case "fenced":
            return "fenced", f"```{rng.choice(('json', 'json', 'JSON', ''))}\n{text}\n```"
        case "sliced":
            return "sliced", f"Here is the scene graph:\n\n{text}\n\nIt leaves out what does not matter."
        case "in_text":
            return "in_text", json.dumps({"kg": text})
        case _:
            return "bare", text


def corpus() -> list[dict[str, Any]]:
    """All lines of the file, the same ones every time."""
    rng = random.Random(SEED)
    lines: list[dict[str, Any]] = []
    for number in range(COUNT):
        if rng.random() < 430 / 12397 * 2:
            lines.append({"damage": "prose", "wrapping": "prose", "text": PROSE[number % len(PROSE)]})
            continue
        damage = list(DAMAGES)[number % len(DAMAGES)]
        is_lossless, apply = DAMAGES[damage]
        value, names, relations = written(rng)
        wrapping, text = _wrapped(rng, apply(rng, json.dumps(value, indent=2)))
        found = {"names": names, "relations": relations, "lossless": is_lossless}
        lines.append({"damage": damage, "wrapping": wrapping, "text": text, **found})
    return lines


def as_text() -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in corpus())


if __name__ == "__main__":
    FILE.write_text(as_text(), encoding="utf-8")
