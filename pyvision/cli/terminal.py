"""Lines that a person types: with history and editing on a terminal, one after the other from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession


class Lines(Protocol):
    """Where questions come from."""

    is_terminal: bool

    def read(self, prompt: str) -> str | None:
        """The next text, which may have several lines; None at the end."""
        ...

    def edit(self, text: str) -> str | None:
        """The text as changed; None if it was given up."""
        ...


class Piped:
    """Lines of standard input, for scripts. A line that ends in a backslash continues on the next one."""

    is_terminal = False

    def read(self, prompt: str) -> str | None:
        lines: list[str] = []
        while line := sys.stdin.readline():
            line = line.rstrip("\n")
            lines.append(line.removesuffix("\\"))
            if not line.endswith("\\"):
                break
        return "\n".join(lines) if lines else None

    def edit(self, text: str) -> str | None:
        """The lines up to an empty one replace the text."""
        lines: list[str] = []
        while (line := sys.stdin.readline().rstrip("\n")) != "":
            lines.append(line)
        return "\n".join(lines) or None


class Terminal:
    """prompt_toolkit: history, search with Ctrl-R, Alt-Enter for a new line, the usual keys of Emacs."""

    is_terminal = True

    def __init__(self, session: PromptSession[str]) -> None:
        self._session = session

    def read(self, prompt: str) -> str | None:
        while True:
            try:
                text: str = self._session.prompt(prompt)
                while text.endswith("\\"):
                    text = text.removesuffix("\\") + "\n" + self._session.prompt("… ")
                return text
            except EOFError:
                return None
            except KeyboardInterrupt:
                continue  # an empty line again, as shells do

    def edit(self, text: str) -> str | None:
        from prompt_toolkit import prompt

        message = "Esc, then Enter, runs the cell; Ctrl-C gives up\n"
        try:
            return prompt(message, default=text, multiline=True)
        except (EOFError, KeyboardInterrupt):
            return None


@contextmanager
def open_lines() -> Iterator[Lines]:
    """From the terminal if there is one, else from standard input."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield Piped()
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.output import create_output

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    file = _history_file()
    history = FileHistory(str(file)) if file else InMemoryHistory()
    yield Terminal(PromptSession(history=history, key_bindings=keys, output=create_output(sys.stderr)))


def _history_file() -> Path | None:
    """The file of earlier questions, readable by its user only; None if it cannot be written."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "pyvision"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(folder / "history", os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError:
        return None
    return folder / "history"
