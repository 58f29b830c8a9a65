"""Trace a cell: its lines, and the variables that each of them changed."""
