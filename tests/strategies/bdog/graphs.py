"""Graphs for tests: one from a short notation, and any at all for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from pyvision.strategies.bdog.graphs import Edge, Graph, GraphNode

LINES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=8)
_IDS = st.lists(LINES, unique=True, max_size=5)


def graph(nodes: str = "", *edges: str) -> Graph:
    """`graph("dog colour=red, cat", "dog chases cat")`: ids are the names, relations have no spaces."""
    return Graph(
        tuple(_node(told.split()) for told in nodes.split(",") if told.strip()),
        tuple(Edge(source, target, word) for source, word, target in (edge.split() for edge in edges)),
    )


def _node(fields: list[str]) -> GraphNode:
    pairs = [word.partition("=") for word in fields[1:]]
    return GraphNode(fields[0], fields[0], tuple((name, value) for name, _, value in pairs))


@st.composite
def any_graphs(draw: st.DrawFn) -> Graph:
    ids = draw(_IDS)
    attributes = st.dictionaries(LINES, LINES, max_size=3)
    nodes = tuple(GraphNode(each, draw(LINES), tuple(draw(attributes).items())) for each in ids)
    edges = st.builds(Edge, st.sampled_from(ids), st.sampled_from(ids), LINES) if ids else st.nothing()
    return Graph(nodes, tuple(draw(st.lists(edges, unique=True, max_size=6))) if ids else ())
