"""The rule-based model: answers simple questions about drawings without a key or a network."""

from pyvision.offline.model import Offline

__all__ = ["Offline"]
