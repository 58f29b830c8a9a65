"""A picture to ask about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles import png


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png(64, 48, "navy"))
    return path
