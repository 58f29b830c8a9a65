"""What a recorded run can be turned into: one HTML page, a notebook, training data."""

from pyvision.report.page import report
from pyvision.report.run import Run, Turn, read_run

__all__ = ["Run", "Turn", "read_run", "report"]
