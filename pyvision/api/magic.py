"""The cell magic `%%see` for notebooks, which `%load_ext pyvision` adds."""

from __future__ import annotations

import shlex
from typing import Any

from pyvision.api.ask import stream
from pyvision.api.streams import EventStream
from pyvision.errors import ConfigError


def register(shell: Any) -> None:
    """Add `%%see` to an IPython shell."""
    shell.register_magic_function(lambda line, cell: see(line, cell, shell.user_ns), "cell", "see")


def see(line: str, text: str, variables: dict[str, Any]) -> EventStream:
    """`%%see IMAGE … [-m MODEL]`: ask the text of the cell about images, which are variables, paths or URLs.

    Raises ConfigError.
    """
    words = shlex.split(line)
    model = None
    for flag in ("-m", "--model"):
        if flag in words:
            at = words.index(flag)
            if at + 1 == len(words):
                raise ConfigError(f"%%see: {flag} needs a name, as in %%see photo.jpg {flag} openai")
            model = words[at + 1]
            del words[at : at + 2]
    return stream(text, [variables.get(word, word) for word in words], model=model)
