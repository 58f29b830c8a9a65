"""Blueprint graphs: values, a reader for what models write, and what changed from one to the next."""

from pyvision.strategies.bdog.graphs.difference import Changed, Difference, difference
from pyvision.strategies.bdog.graphs.parsing import Repair, read_graph
from pyvision.strategies.bdog.graphs.values import Edge, Graph, Node, cut_to, normalised

__all__ = [
    "Changed",
    "Difference",
    "Edge",
    "Graph",
    "Node",
    "Repair",
    "cut_to",
    "difference",
    "normalised",
    "read_graph",
]
