"""Perception and search on the host: one contract (`types.Tool`), a table of who provides what."""
