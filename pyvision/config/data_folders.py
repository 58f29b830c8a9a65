"""Find the data folders (`prompts`, `api_configs`) in a wheel, in a checkout and in an editable install."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[1]


def data_folder(kind: Literal["prompts", "api_configs"]) -> Path:
    """Where the files of this kind lie: beside the package in a checkout, inside it when installed."""
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind
