"""Write what was made of a run, whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pyvision.errors import RunFolderError


def write_file(path: Path, data: bytes) -> None:
    """The file with this content, in place of one that is there. Raises RunFolderError."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(data)
        half.replace(path)
    except OSError as error:
        with suppress(OSError):  # what cannot be removed was not written either, or stays as a hidden file
            half.unlink(missing_ok=True)
        raise RunFolderError(
            f"{str(path)!r}: cannot be written: {error.strerror}; choose another place with --out"
        ) from error
