"""Readers: samples out of files, folders and datasets of others."""

from pyvision.bench.datasets.readers.opening import open_samples

__all__ = ["open_samples"]
