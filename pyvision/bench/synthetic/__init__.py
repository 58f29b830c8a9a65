"""Generated question sets: images drawn from a seed, with exact answers."""

from pyvision.bench.synthetic.registry import SETS, generate

__all__ = ["SETS", "generate"]
