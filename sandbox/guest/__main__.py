"""Lower the limits of this process, then become the kernel: the first thing that runs in a room."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Read one JSON object from the descriptor that is the argument, and serve cells until killed."""
    setup: dict[str, Any] = json.load(os.fdopen(int(sys.argv[1]), "rb"))
    for name, value in setup["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    sys.path += [folder for folder in (*setup["packages"], str(Path.cwd())) if folder not in sys.path]
    from .kernel import serve

    serve(setup)


main()
