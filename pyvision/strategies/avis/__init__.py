"""AVIS (arXiv 2306.08129): a planner searches a graph of tools, and a reasoner judges what they return."""

from pyvision.strategies.avis.strategy import Avis

__all__ = ["Avis"]
