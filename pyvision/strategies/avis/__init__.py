"""AVIS (arXiv 2306.08129): a planner walks a graph of tools, a reasoner judges what they bring."""

from pyvision.strategies.avis.strategy import Avis

__all__ = ["Avis"]
