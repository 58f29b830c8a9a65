"""Question sets that are drawn from a seed, with exact truth."""

from pyvision.bench.synthetic.table import SETS, generate

__all__ = ["SETS", "generate"]
