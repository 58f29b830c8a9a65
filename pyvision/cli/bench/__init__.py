"""`pyvision bench`: one file per command."""

from pyvision.cli.bench.commands import add_command

__all__ = ["add_command"]
