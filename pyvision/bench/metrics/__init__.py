"""Metrics: how right an answer is, by the rules of each benchmark."""

from pyvision.bench.metrics.registry import METRICS, Metric, find_metric, flavours_of

__all__ = ["METRICS", "Metric", "find_metric", "flavours_of"]
