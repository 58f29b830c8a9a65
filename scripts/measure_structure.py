"""Measure how hard the code is to find one's way in: files, code paths, imports, and words of the old vocabulary.

.venv/bin/python scripts/measure_structure.py            all rows as a table
.venv/bin/python scripts/measure_structure.py --static   those that need no run of the product

A code path is measured with sys.setprofile over the functions of pyvision and sandbox in this process. A switch is a
call or a return of such a function in another file than the one before, in the same thread. What runs inside a kernel
is not counted.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from inspect import CO_OPTIMIZED
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("pyvision", "sandbox")
SHORT_LINES = 40
MANY_FILES = 15
QUESTION = ["--image", str(ROOT / "examples/circles.png"), "--question", "How many circles are in the image?"]
CELL = "<code>\nprint(host.detect(image_clue_0, 'circle'))\n</code>"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PARTICIPLES = _words(
    """
    begun bound broken brought built chosen cut done drawn driven fed felt found given gone gotten heard
    held hidden kept known laid led left lent lost made meant met paid put said seen sent set shown shut
    slept sold sought spent spoken spread stood struck stuck sung swept taken taught thought told torn
    understood won worn written
    """
)
NOT_PARTICIPLES = _words("embed exceed feed need proceed red seed shed speed succeed")

# Identifiers of the old vocabulary, as whole names; a leading underscore is ignored.
OLD_NAMES = _words(
    """
    talk talks Talk Heard heard hear Faults translated scrubbed Refusals Thoughts Limited Retried
    Recorded Replayed Player player players find_player obeyed Outbox outbox give_way left_out Earlier
    is_open said makes_up_output made_up Began Spoke Restarted Asked Ran Used Defined Noted Ended
    Patient patient examine look_at_machine arm arms Arm ARMS donors AS_IT_IS joined graded Graded
    station Station fatal canary tally Tally Told find_told Desk desk Visitors visitors Seat seat
    silence pace Hands hands Exhibit exhibit Walk Visit Trail Thing thing things take_apart Draughting
    Asking asking controls agreed Course course courses Debugging debug_oneself Workshop workshop Fate
    Lesson lesson lessons refill Deed deed deeds Posed posed Standing standing Waiting looks describers
    describer marks mend mends told shown kept warden tenancy Tenant rehearsal rehearse spares entrance
    exchange Exchange stragglers wall _ADMINISTRATOR most_sessions trace_steps wait_s _TELLING words
    give_back floors FLOORS floor_of house
    """
)
# Turns of phrase of the old vocabulary, anywhere in a text.
OLD_PHRASES = re.compile(
    r"\b(the talk|a talk|talks|broken off|go(?:es)? on with|goes on|whoever|one that is none|of its own|"
    r"for who|who waits|the house|of the house|floors?|wardens?|tenancy|rehearsals?|control groups?|process namespace|"
    r"namespace of users|host-name space|by version 6|mend(?:s|ed)?|is told|are told|tells? of|obeyed|donors|arms)\b"
)


@dataclass
class CodePath:
    """One code path: what was entered, and how often execution changed the file, by thread."""

    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    switches: int = 0


class Profile:
    """Watches calls and returns of our own functions in every thread that starts while it is on."""

    def __init__(self) -> None:
        self.by_thread: dict[int, list[tuple[str, str]]] = {}
        self._ours = tuple(str(ROOT / package) + "/" for package in PACKAGES)

    def __enter__(self) -> Profile:
        threading.setprofile(self._watch)
        sys.setprofile(self._watch)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _watch(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        is_function = frame.f_code.co_flags & CO_OPTIMIZED  # bodies of modules and classes are none
        if is_function and event in ("call", "return") and name.startswith(self._ours):
            seen = (name, frame.f_code.co_qualname)
            self.by_thread.setdefault(threading.get_ident(), []).append(seen)

    def path(self, wanted: Callable[[Sequence[tuple[str, str]]], bool] = lambda _: True) -> CodePath:
        """Of all threads that are wanted."""
        found = CodePath()
        for events in self.by_thread.values():
            if wanted(events):
                found.files |= {name for name, _ in events}
                found.functions |= set(events)
                found.switches += sum(one[0] != other[0] for one, other in pairwise(events))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--static", action="store_true", help="leave out what needs a run of the product")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    rows = dict(static_rows())
    if not options.static:
        sys.path.insert(0, str(ROOT))
        rows |= dict(run_rows())
    if options.json:
        print(json.dumps(rows, indent=2))  # noqa: T201 - the output of this script
        return
    for title, value in rows.items():
        print(f"{title:<58} {value:>9,}")  # noqa: T201 - the output of this script


def static_rows() -> Iterator[tuple[str, int]]:
    """What can be read from the files."""
    lengths = [_text(path).count("\n") for path in _product_files()]
    yield "product files", len(lengths)
    yield "programs of the escape tests", sum(1 for _ in _programs())
    yield "lines", sum(lengths)
    yield "loose modules at the root of pyvision/", len(_loose())
    yield f"files under {SHORT_LINES} lines", sum(length < SHORT_LINES for length in lengths)
    folders = Counter(path.parent for path in _product_files() if path.name != "__init__.py")
    yield f"folders of more than {MANY_FILES} files", sum(count > MANY_FILES for count in folders.values())
    yield "functions named by a participle", participles().total()
    yield "identifiers of the old vocabulary", old_names().total()
    yield "turns of phrase of the old vocabulary", old_phrases().total()
    yield "class names with more than one definition", sum(count > 1 for count in class_names().values())


def participles() -> Counter[str]:
    """Functions of the product whose name begins with a participle, by that word."""
    return Counter(word for path in _product_files() for word in _names_in(path).participles)


def old_names() -> Counter[str]:
    """Identifiers of the product that belong to the old vocabulary."""
    return Counter(name for path in _product_files() for name in _names_in(path).old)


def old_phrases() -> Counter[str]:
    """Turns of phrase of the old vocabulary, in code and documents."""
    paths = (*_product_files(), *_documents())
    return Counter(phrase for path in paths for phrase in OLD_PHRASES.findall(_text(path)))


def class_names() -> Counter[str]:
    """How many classes of the product have each public name."""
    return Counter(name for path in _product_files() for name in _names_in(path).classes)


def run_rows() -> Iterator[tuple[str, int]]:
    """What running the product shows."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        question = ["run", *QUESTION, "--model", "offline"]
        yield from _path_rows(
            "run, offline, 3 turns", _profiled([*question, "--out", str(out / "run")]).path()
        )
        script = out / "script.json"
        replies = [CELL, "<answer>\\boxed{1}</answer>"]
        script.write_text(json.dumps({"wire": "scripted", "replies": replies}), encoding="utf-8")
        command = [
            "run",
            *QUESTION,
            "--config",
            str(script),
            "--tool",
            "detect=offline",
            "--set",
            "tools=detect",
        ]
        called = _profiled([*command, "--out", str(out / "detect")])
        yield from _path_rows("host.detect, the thread that serves it", called.path(_serves_a_tool))
        bench = [
            "bench",
            "run",
            "synthetic/squares",
            "--limit",
            "2",
            "--model",
            "offline",
            "--out",
            str(out / "bench"),
        ]
        yield from _path_rows("bench run, two samples", _profiled(bench).path())
        yield (
            "modules imported by one code_loop question",
            _imported([*question, "--out", str(out / "imports")]),
        )


def _serves_a_tool(events: Sequence[tuple[str, str]]) -> bool:
    """Whether this thread did nothing but serve a call of a cell: it reached a tool, and no strategy."""
    names = [name.removeprefix(str(ROOT)) for name, _ in events]
    return any("/perception/" in name for name in names) and not any("/strategies/" in name for name in names)


def _path_rows(title: str, path: CodePath) -> Iterator[tuple[str, int]]:
    yield f"{title}: files", len(path.files)
    yield f"{title}: functions", len(path.functions)
    yield f"{title}: file switches", path.switches


def _profiled(arguments: list[str]) -> Profile:
    """One command, run in this process. Raises RuntimeError where it fails."""
    from pyvision.cli import main as command

    output = io.BytesIO()
    text = io.TextIOWrapper(output, encoding="utf-8", write_through=True)
    with redirect_stdout(text), redirect_stderr(text), Profile() as profile:
        code: Any = command(arguments)
    if code:
        raise RuntimeError(f"{' '.join(arguments)}: exit code {code}\n{output.getvalue().decode()}")
    return profile


def _imported(arguments: list[str]) -> int:
    """How many of our modules one command loads, in a process of its own."""
    program = (
        "import sys; from pyvision.cli import main; main(sys.argv[1:]); "
        "print(sum(name.split('.')[0] in ('pyvision', 'sandbox') for name in sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stderr.split()[-1])


def _product_files() -> Iterator[Path]:
    yield ROOT / "app.py"
    for package in PACKAGES:
        yield from sorted(set((ROOT / package).rglob("*.py")) - set(_programs()))


def _programs() -> Iterator[Path]:
    """Data: the attacks, whatever their folder is called."""
    for folder in ("attacks", "programs"):
        yield from (ROOT / "sandbox").glob(f"**/{folder}/**/*.py")


def _documents() -> Iterator[Path]:
    yield from sorted(ROOT.glob("*.md"))
    for folder in ("docs", "prompts"):
        yield from sorted((ROOT / folder).rglob("*.md"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _loose() -> list[str]:
    names = (path.stem for path in (ROOT / "pyvision").glob("*.py"))
    return [name for name in names if name not in ("__init__", "__main__")]


class _Names(NamedTuple):
    """What the reports count in one file."""

    old: tuple[str, ...]
    participles: tuple[str, ...]
    classes: tuple[str, ...]


@cache
def _names_in(path: Path) -> _Names:
    tree = ast.parse(_text(path))
    nodes = list(ast.walk(tree))
    classes = (node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return _Names(
        tuple(_old_names(nodes)),
        tuple(_participles(nodes)),
        tuple(name for name in classes if not name.startswith("_")),
    )


def _participles(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Of functions such as `told`, `_shown`, `joined_results`. Properties do not count."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_property(node):
            first = node.name.strip("_").partition("_")[0]
            if first in PARTICIPLES or (first.endswith("ed") and first not in NOT_PARTICIPLES):
                yield first


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def _old_names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Whole names; those of standard libraries that happen to be among them are too few to matter."""
    names = (name.strip("_") for node in nodes for name in _names_of(node))
    yield from (name for name in names if name in OLD_NAMES)


def _names_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield from name.split(".")[-1:]
            yield from [other] if other else []
        case _:
            pass


if __name__ == "__main__":
    main()
