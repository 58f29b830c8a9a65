"""Thousands of sessions of mixed and hostile work, after which the host must be as it was."""
