"""Benchmarks: samples, datasets, metrics, the runner and what its records mean."""
