"""What a recorded run can be turned into: one HTML page, a notebook, training data."""

from pyvision.runs.report.page import report
from pyvision.runs.run import Run, Turn, read_run

__all__ = ["Run", "Turn", "read_run", "report"]
