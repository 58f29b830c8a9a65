"""Metrics: how right an answer is, by the rules of each benchmark."""

from pyvision.bench.metrics.registry import METRICS, find_metric, flavours_of
from pyvision.bench.metrics.scoring import Metric

__all__ = ["METRICS", "Metric", "find_metric", "flavours_of"]
