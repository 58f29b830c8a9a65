"""Metrics: how right an answer is, by the rules of each benchmark."""

from pyvision.bench.metrics.scoring import Metric
from pyvision.bench.metrics.table import METRICS, find_metric, flavours_of

__all__ = ["METRICS", "Metric", "find_metric", "flavours_of"]
