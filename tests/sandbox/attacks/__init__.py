"""The attacks of `sandbox/attacks`, against plain Jupyter and against the sandbox."""
