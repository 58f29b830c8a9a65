"""The ids of one file, each of which may come once."""

from __future__ import annotations

from pyvision.errors import ConfigError


class Ids:
    """What was read so far, and where."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def add(self, sample_id: str, path: object, line: int) -> None:
        """Remember an id. Raises ConfigError when it came before."""
        if sample_id in self._places:
            before = self._places[sample_id]
            raise ConfigError(
                f"{path}: line {line}: the id {sample_id!r} stands in line {before} already; give each its own"
            )
        self._places[sample_id] = line
