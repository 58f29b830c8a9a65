"""Read a graph in the language of Graphviz: `digraph { a [label="dog"]; a -> b [label="chases"] }`. Never raises.

Covered: nodes, edges and chains of edges with their attributes, quoted names, comments, subgraphs (taken as one graph).
Not covered: ports, HTML labels and groups as ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pyvision.strategies.bdog.graphs.forms import RawGraph

_OPENING = re.compile(
    r"\b(?:strict\s+)?(?:di)?graph\b\s*(?:\"[^\"\n]{0,100}\"|\w{0,100})\s*\{", re.IGNORECASE
)
_COMMENT = re.compile(r"//[^\n]*|^[ \t]*#[^\n]*|/\*[^*]*\*/", re.MULTILINE)
_NAME = r"(?:\"(?:\\.|[^\"\\\n])*\"|[\w.]+(?:-[\w.]+)*)"
_STATEMENT = re.compile(
    rf"(?P<ends>{_NAME}(?:[ \t]*-[->][ \t]*{_NAME})*)[ \t\n]*"
    r"(?:\[(?P<attributes>(?:\"(?:\\.|[^\"\\])*\"|[^][\"])*+)\])?"
)
_BRACE = re.compile(r"\"(?:\\.|[^\"\\])*+\"|[{}]")
_END = re.compile(_NAME)
_ATTRIBUTE = re.compile(rf"({_NAME})\s*=\s*({_NAME})")
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}
_LOOKS = frozenset(
    "shape style fillcolor fontsize fontcolor fontname arrowhead pos rank weight dir".split()  # noqa: SIM905
)
_MOST_CHARS = 50_000


def find_dot(text: str) -> RawGraph | None:
    """The last graph of the text that is written in this language, or None."""
    openings = list(_OPENING.finditer(text))
    if not openings:
        return None
    body = _COMMENT.sub("", text[openings[-1].end() :][:_MOST_CHARS])
    nodes: dict[str, dict[str, object]] = {}
    edges: list[dict[str, str]] = []
    for names, attributes in _statements(_until_closed(body.partition("```")[0])):
        for name in names:
            nodes.setdefault(name, {"id": name, "name": name})
        if len(names) > 1:
            relation = attributes.get("label", "")
            pairs = pairwise(names)
            edges += [{"source": one, "target": other, "relation": relation} for one, other in pairs]
        else:
            label = attributes.pop("label", "")
            nodes[names[0]] |= {"attributes": attributes} | ({"name": label} if label else {})
    return RawGraph(list(nodes.values()), edges) if nodes else None


def _until_closed(body: str) -> str:
    """The text up to the brace that closes the graph; all of it if none does."""
    depth = 1
    for found in _BRACE.finditer(body):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return body[: found.start()]
    return body


def _statements(body: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    for found in _STATEMENT.finditer(body):
        names = [_plain(end) for end in _END.findall(re.sub(r"[ \t]*-[->][ \t]*", " ", found["ends"]))]
        behind = body[found.end() : found.end() + 2].strip()
        if not all(names) or names[0].casefold() in _KEYWORDS or behind.startswith(("=", "{")):
            continue
        if body[: found.start()].rstrip()[-1:] == "=":
            continue  # the value of an attribute of the graph, as in rankdir=LR
        listed = {_plain(key): _plain(value) for key, value in _ATTRIBUTE.findall(found["attributes"] or "")}
        yield names, {key: value for key, value in listed.items() if key.casefold() not in _LOOKS and value}


def _plain(name: str) -> str:
    inner = name[1:-1] if name.startswith('"') else name
    return " ".join(inner.replace('\\"', '"').replace("\\n", " ").split())
