"""Blueprint graphs: values, a reader for what models write, and what changed from one to the next."""

from pyvision.strategies.bdog.graphs.graph import (
    Changed,
    Edge,
    Graph,
    GraphDifference,
    GraphNode,
    difference,
    normalise,
    truncate,
)
from pyvision.strategies.bdog.graphs.parsing import Repair, read_graph

__all__ = [
    "Changed",
    "Edge",
    "Graph",
    "GraphDifference",
    "GraphNode",
    "Repair",
    "difference",
    "normalise",
    "read_graph",
    "truncate",
]
