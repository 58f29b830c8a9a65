"""The command line: reads arguments, shows progress, exits with a code. No logic of questions or benchmarks."""

from pyvision.cli.main import main

__all__ = ["main"]
