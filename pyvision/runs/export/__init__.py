"""A recorded run in the formats that notebooks, chat endpoints and training frameworks read."""

from pyvision.runs.export.formats import FORMATS, export

__all__ = ["FORMATS", "export"]
