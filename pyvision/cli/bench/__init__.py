"""`pyvision bench` and its commands."""
