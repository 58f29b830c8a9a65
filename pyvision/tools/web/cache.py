"""What searches and pages gave, on disk, so that a run can be replayed without asking anybody again.

One JSON file for each request, named by the hash of provider, query and options; no key is part of it. Deleting one
makes it be asked again; deleting the folder is always safe.

Where: $PYVISION_CACHE/web, else $XDG_CACHE_HOME/pyvision/web, else ~/.cache/pyvision/web.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FORMAT = 1
_LOG = logging.getLogger("pyvision.tools.web")


class Cache:
    """Safe for several processes at once: a file appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, request: Mapping[str, Any]) -> Any | None:
        """What was kept for this request; None where nothing was, or where the file is broken."""
        try:
            kept = json.loads(self._path(request).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        fits = (
            isinstance(kept, dict) and kept.get("format") == _FORMAT and kept.get("request") == dict(request)
        )
        return kept.get("answer") if fits else None

    def keep(self, request: Mapping[str, Any], answer: Any) -> None:
        """Keep it. A folder that cannot be written is told in the log, and costs nothing but the replay."""
        path = self._path(request)
        kept = {"format": _FORMAT, "request": dict(request), "answer": answer}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=path.parent, suffix=".new", delete=False, encoding="utf-8"
            ) as file:
                json.dump(kept, file, indent=1)
            Path(file.name).replace(path)
        except OSError as error:
            _LOG.warning("%s cannot be kept: %s", path, error.strerror)

    def _path(self, request: Mapping[str, Any]) -> Path:
        from hashlib import sha256

        name = sha256(json.dumps(dict(request), sort_keys=True).encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where the cache of these settings lies."""
    if own := environ.get("PYVISION_CACHE", "").strip():
        return Path(own) / "web"
    home = environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(home) if home else Path.home() / ".cache") / "pyvision" / "web"
