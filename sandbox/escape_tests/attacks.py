"""The attacks, read from the programs in `sandbox/escape_tests/programs/<topic>.py`.

A program begins with a line `# %% name`. Its docstring is one sentence that says what it tries, an empty line, and
one field per line.

    layer: what is expected to stop it
    plain: succeeds | succeeds as root | depends, WHY | fails | skipped, WHY      against plain ipykernel
    timeout: seconds that the cell may take (10)
    session: own      because it breaks the kernel that it runs in (shared)
    sessions: 2       it runs again in a session opened after the first one was closed (1)
    proof: cell       it prints MARKER                                           (this one)
           host       a canary of the host was touched, or the secret of one was printed
           neighbour  a second session answers late or wrongly, or the host's memory grows, while it runs
           deadline   `run` does not return in time, or the next cell fails
           result     the host received a figure that Pillow decodes differently or not at all, or an endless error
    functions: take    it may call `host.take(value)`, whose figures are checked too    (no function)
    after: a line of Python, the next cell of the same session
    expect: all that this cell may print

The program finds MARKER and TARGET (`canaries.py`) defined, and prints MARKER alone on a line only if the attack
really succeeded. It is bounded in count and time, restores what it changes, and aims only at canaries.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

Layer: TypeAlias = Literal[
    "mounts",
    "network",
    "processes",
    "users",
    "calls",
    "limits",
    "groups",
    "disk",
    "output",
    "deadline",
    "messages",
    "environment",
    "container",
]
Plain: TypeAlias = Literal["succeeds", "succeeds as root", "depends", "fails", "skipped"]
Proof: TypeAlias = Literal["cell", "host", "neighbour", "deadline", "result"]

PROGRAMS = Path(__file__).parent / "programs"
_CELL = re.compile(r"^# %% (\w+)\n", re.MULTILINE)
_FIELDS = ("layer", "plain", "timeout", "session", "sessions", "proof", "functions", "after", "expect")


@dataclass(frozen=True, slots=True)
class Attack:
    """One program. `why` is the reason if `plain` is `depends` or `skipped`."""

    topic: str
    name: str
    tries: str
    code: str
    layer: Layer
    plain: Plain
    why: str = ""
    timeout_s: float = 10.0
    session: Literal["shared", "own"] = "shared"
    sessions: int = 1
    proof: Proof = "cell"
    functions: Literal["", "take"] = ""
    after: str | None = None
    expect: str | None = None

    @property
    def id(self) -> str:
        return f"{self.topic}/{self.name}"


@cache
def attacks() -> tuple[Attack, ...]:
    """All attacks, by topic. Raises ValueError for a program with an invalid docstring."""
    return tuple(attack for path in sorted(PROGRAMS.glob("*.py")) for attack in read_topic(path))


def read_topic(path: Path) -> tuple[Attack, ...]:
    """The programs of one file: each begins with a line `# %% name`. Raises ValueError as `read_attack` does."""
    _, *parts = _CELL.split(path.read_text(encoding="utf-8"))
    named = sorted(zip(parts[::2], parts[1::2], strict=True))
    return tuple(read_attack(path, name, code.strip() + "\n") for name, code in named)


def read_attack(path: Path, name: str, code: str) -> Attack:
    """Parse a program. Raises ValueError that names the file, the program, the field and the allowed values."""
    where = f"{path}: {name}"
    tries, _, rest = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
    fields = dict(_field(line, where) for line in rest.splitlines() if line.strip())
    if not tries or "layer" not in fields or "plain" not in fields:
        raise ValueError(f"{where}: its docstring does not say what it tries, its layer and `plain`")
    plain, _, why = fields["plain"].partition(", ")
    return Attack(
        topic=path.stem,
        name=name,
        tries=tries.strip(),
        code=code,
        layer=cast("Layer", _one_of(fields["layer"], get_args(Layer), where)),
        plain=cast("Plain", _one_of(plain, get_args(Plain), where)),
        why=why,
        timeout_s=float(fields.get("timeout", 10.0)),
        session="own"
        if _one_of(fields.get("session", "shared"), ("shared", "own"), where) == "own"
        else "shared",
        sessions=int(fields.get("sessions", 1)),
        proof=cast("Proof", _one_of(fields.get("proof", "cell"), get_args(Proof), where)),
        functions="take" if _one_of(fields.get("functions", ""), ("", "take"), where) else "",
        after=fields.get("after"),
        expect=fields.get("expect"),
    )


def _field(line: str, where: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return _one_of(name.strip(), _FIELDS, where), value.strip()


def _one_of(value: str, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        raise ValueError(f"{where}: {value!r} is none of {', '.join(allowed)}")
    return value
