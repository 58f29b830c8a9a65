"""Readers: samples out of files, folders and datasets of others."""

from pyvision.bench.readers.opening import open_samples

__all__ = ["open_samples"]
