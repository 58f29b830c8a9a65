"""Stop strings: make replies of endpoints that keep them and of endpoints that drop them look alike."""

from __future__ import annotations

from collections.abc import Sequence

from pyvision.types import Reply


def cut_at_stop(reply: Reply, stop: Sequence[str]) -> Reply:
    """The reply up to the first stop string in it; it comes back as it is where there is none."""
    starts = [position for string in stop if string and (position := reply.text.find(string)) >= 0]
    return Reply(reply.text[: min(starts)], reply.usage, "stop") if starts else reply
