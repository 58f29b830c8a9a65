"""Parse what a cell printed: the last RESULT line, with nothing taken on trust."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LINE = re.compile(r"^\s*RESULT (\{.*\})\s*$", re.MULTILINE)
_UNSAFE = re.compile(r"[\\{}<>$`\x00-\x1f\x7f]")
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """The findings of one cell; each accessor gives None where the value is absent or of another kind."""

    values: Mapping[str, Any]

    @property
    def confident(self) -> bool:
        return self.values.get("confident") is True

    @property
    def why(self) -> str:
        """Why the cell is not confident; empty when it does not say."""
        return self.text("why") or ""

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if _is_whole(value) else None

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        return value if isinstance(value, bool) else None

    def text(self, key: str) -> str | None:
        """One line without braces, tags and the like, so that it can stand in an answer."""
        value = self.values.get(key)
        return _UNSAFE.sub(" ", value)[:_LONGEST_TEXT].strip() if isinstance(value, str) else None

    def texts(self, key: str) -> tuple[str, ...] | None:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        return tuple(_UNSAFE.sub(" ", item)[:40].strip() for item in value[:20])

    def boxes(self, key: str) -> tuple[tuple[int, ...], ...] | None:
        """Rows of four whole numbers: left, top, right, bottom in pixels."""
        rows = self.values.get(key)
        if not isinstance(rows, list):
            return None
        whole = all(isinstance(row, list) and len(row) == 4 and all(map(_is_whole, row)) for row in rows)
        return tuple(tuple(row) for row in rows[:20]) if whole else None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def finding_in(output: str) -> Finding | None:
    """The last RESULT line of an output, or None when there is none that can be read."""
    lines = _LINE.findall(output)
    try:
        values = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return None
    return Finding(values) if isinstance(values, dict) else None
