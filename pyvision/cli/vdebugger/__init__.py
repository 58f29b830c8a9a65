"""`pyvision vdebugger`: train and measure the critic and the refiner of visual programs."""

from pyvision.cli.vdebugger.commands import add_command

__all__ = ["add_command"]
