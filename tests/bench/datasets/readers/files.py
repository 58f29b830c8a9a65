"""Small files for the tests of readers: pictures, JSON lines, and tables as pandas writes them."""

from __future__ import annotations

import csv
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyvision.bench.datasets.readers import open_samples
from pyvision.errors import ConfigError

PNG = bytes.fromhex(  # one grey pixel
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)
PICTURE = b64encode(PNG).decode()


def write_lines(path: Path, *rows: Mapping[str, Any]) -> Path:
    """A JSON-lines file."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def write_table(path: Path, *rows: Mapping[str, str]) -> Path:
    """A table with the columns of its first row; tabs between them in a .tsv."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, tuple(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_pictures(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PNG)


def complaint(path: Path) -> str:
    """What is said of a file, on one line; empty when it can be read."""
    try:
        list(open_samples(path))
    except ConfigError as error:
        return str(error).replace("\n", "<line end>")
    return ""
