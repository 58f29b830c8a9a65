"""Blueprint graphs: values, a reader for what models write, and what changed from one to the next."""

from pyvision.strategies.bdog.graphs.difference import Changed, Difference, difference
from pyvision.strategies.bdog.graphs.parsing import Repair, read_graph
from pyvision.strategies.bdog.graphs.values import Edge, Graph, Node, normalise, truncate

__all__ = [
    "Changed",
    "Difference",
    "Edge",
    "Graph",
    "Node",
    "Repair",
    "difference",
    "normalise",
    "read_graph",
    "truncate",
]
