"""Blueprint debate on graph (arXiv 2403.14972): debaters refine a graph, a moderator answers from it."""

from pyvision.strategies.bdog.strategy import Bdog

__all__ = ["Bdog"]
