"""Question sets that are drawn from a seed, with exact truth."""

from pyvision.bench.synthetic.registry import SETS, generate

__all__ = ["SETS", "generate"]
