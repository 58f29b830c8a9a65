"""The speed and the memory of the sandbox, compared with plain Jupyter."""
