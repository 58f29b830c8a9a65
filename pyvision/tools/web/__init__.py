"""Search on the web, pages fetched safely, and text from outside made harmless."""

from pyvision.tools.web.search import WebSearch, web_tool

__all__ = ["WebSearch", "web_tool"]
