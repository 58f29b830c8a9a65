"""The loop of PyVision (arXiv 2507.07998): a model writes cells, looks at what they show, and answers."""

from pyvision.strategies.code_loop.loop import CodeLoop

__all__ = ["CodeLoop"]
