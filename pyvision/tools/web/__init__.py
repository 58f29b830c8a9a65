"""Web search, safe fetching of pages, and sanitizing of text from the web."""

from pyvision.tools.web.search import WebSearch, web_tool

__all__ = ["WebSearch", "web_tool"]
