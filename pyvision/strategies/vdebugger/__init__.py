"""Visual programs that are traced, criticised and refined (VDebugger, arXiv 2406.13444)."""

from pyvision.strategies.vdebugger.strategy import VDebugger

__all__ = ["VDebugger"]
