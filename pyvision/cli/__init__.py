"""The command line: one file per command, no logic."""

from pyvision.cli.main import main

__all__ = ["main"]
