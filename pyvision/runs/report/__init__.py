"""A recorded run as one HTML page."""

from pyvision.runs.report.page import report

__all__ = ["report"]
