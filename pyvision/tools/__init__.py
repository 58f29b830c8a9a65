"""Perception, retrieval and web search on the host: tools that a strategy, or the code in a cell, can call."""
