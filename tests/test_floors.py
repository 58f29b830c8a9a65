"""Imports go down the floors of the house, never up, and never sideways between strategies.

Covered: every import statement, also those inside functions and under TYPE_CHECKING.
Not covered: modules loaded by a computed name.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

FLOORS = {
    "types": 0,
    "cancellation": 0,
    "errors": 0,
    "events": 0,
    "config": 1,
    "decoding": 1,
    "encoding": 1,
    "images": 1,
    "limits": 1,
    "models": 1,
    "outputs": 1,
    "conversation": 4,
    "players": 1,
    "profiles": 1,
    "prices": 1,
    "prompts": 1,
    "redaction": 1,
    "replies": 1,
    "resources": 1,
    "stated_answers": 1,
    "syntax": 1,
    "tools": 1,
    "trajectory": 1,
    "budget": 2,
    "episode": 2,
    "run_config": 2,
    "sending": 2,
    "strategy": 2,
    "strategies": 3,
    "bench": 4,
    "doctor": 4,
    "replay": 4,
    "report": 4,
    "solve": 4,
    "training": 4,
    "__init__": 4,  # reaches `solve` when it is asked for it
    "__main__": 5,
    "cli": 5,
    "demo": 5,
    "study": 5,
}
DRAW = (
    "pyvision.bench.synthetic.canvas",
    "pyvision.decoding",
    "pyvision.encoding",
    "pyvision.images",
    "pyvision.doctor.pictures",
    "sandbox.escape_tests.handed",
)  # the only ones that know Pillow
HEAVY = {
    "anthropic",
    "gradio",
    "httpx2",
    "IPython",
    "ipykernel",
    "jupyter_client",
    "matplotlib",
    "numpy",
    "openai",
    "PIL",
    "pydantic",
    "rich",
    "zmq",
}
RUN_TIME = ("pyvision.bench.analysis.arms",)  # stands with the analysis, but changes what a run sees
PROGRAMS = ROOT / "sandbox" / "escape_tests" / "programs"  # data
LOADED_BY_ITS_USER = (  # when it is used: they are made of its classes
    "sandbox.jupyter.provisioner",
    "pyvision.models.deadlines",
    "pyvision.demo.page",
    "pyvision.study.page",
)


@dataclass(frozen=True, slots=True)
class Import:
    """One import: who, whom, on which line, and whether it happens on loading."""

    by: str
    of: str
    line: int
    on_loading: bool = True

    def __str__(self) -> str:
        return f"{self.by}, line {self.line}, imports {self.of}"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources() -> dict[str, str]:
    paths = [
        path
        for package in ("pyvision", "sandbox")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.is_relative_to(PROGRAMS)
    ]
    return {module_of(path): path.read_text(encoding="utf-8") for path in [*paths, *ROOT.glob("app.py")]}


PACKAGES = {module_of(path) for top in ("pyvision", "sandbox") for path in (ROOT / top).rglob("__init__.py")}


def imports_of(module: str, source: str, known: Collection[str]) -> Iterator[Import]:
    """Every import of a module, with relative ones resolved."""
    return _imports(ast.parse(source), module, known, on_loading=True)


def _imports(node: ast.AST, module: str, known: Collection[str], *, on_loading: bool) -> Iterator[Import]:
    match node:
        case ast.Import(names=names, lineno=line):
            for name in names:
                yield Import(module, name.name, line, on_loading)
        case ast.ImportFrom(names=names, lineno=line):
            source = _source(node, module)
            for name in names:
                inner = f"{source}.{name.name}"
                yield Import(module, inner if inner in known else source, line, on_loading)
        case ast.If(test=ast.Name("TYPE_CHECKING"), body=body, orelse=otherwise):
            for child in body:
                yield from _imports(child, module, known, on_loading=False)
            for other in otherwise:
                yield from _imports(other, module, known, on_loading=on_loading)
        case _:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for inner_node in ast.iter_child_nodes(node):
                yield from _imports(inner_node, module, known, on_loading=on_loading and not inside)


def _source(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    package = parts[: len(parts) - node.level + (module in PACKAGES)]
    return ".".join([*package, *([node.module] if node.module else [])])


def floor_of(module: str) -> int:
    """The floor of a module of pyvision. Raises KeyError for one that has none."""
    if module == "app":
        return 5
    return FLOORS[(*module.split("."), "__init__")[1]]


def complaint(found: Import) -> str | None:
    """Which rule of the house an import breaks."""
    by, of = found.by.split("."), found.of.split(".")
    at_once = found.on_loading and found.by not in LOADED_BY_ITS_USER
    if at_once and of[0] in HEAVY and by[:2] != ["sandbox", "guest"]:
        return "heavy libraries load where they are used"
    if of[0] == "PIL" and found.by not in DRAW and by[:2] != ["sandbox", "guest"]:
        return "Pillow stays in pyvision/images.py, decoding.py and encoding.py"
    if of[0] in ("pyvision", "app", "tests", "benchmarks"):
        return _within_pyvision(found)
    if of[0] == "sandbox":
        return _into_sandbox(found)
    return None


def _within_pyvision(found: Import) -> str | None:
    by, of = found.by.split("."), found.of.split(".")
    if by[0] == "sandbox":
        return "the sandbox stands alone"
    if of[0] in ("tests", "benchmarks"):
        return "the product does not need its tests"
    if floor_of(found.of) > floor_of(found.by):
        return "imports go down"
    analysis = ["bench", "analysis"]
    if by[1:2] == ["bench"] and by[1:3] != analysis and of[1:3] == analysis and found.of not in RUN_TIME:
        return "running a benchmark does not depend on its analysis"
    strategies = by[1:2] == of[1:2] == ["strategies"] and len(by) > 2 and len(of) > 2
    return "strategies do not know each other" if strategies and by[2] != of[2] else None


def _into_sandbox(found: Import) -> str | None:
    by, of = found.by.split("."), found.of.split(".")
    if by[0] == "sandbox":
        crosses = (by[1:2] == ["guest"]) != (of[1:2] == ["guest"])
        return "host and guest do not import each other" if crosses else None
    if found.by == "pyvision.events":
        return None if found.of == "sandbox.results" else "events know only the results of the sandbox"
    if floor_of(found.by) < 2:
        return "only floor 2 and up knows the sandbox"
    if found.of.startswith(
        "sandbox.escape_tests"
    ):  # a second public face, loaded by nobody who only runs cells
        return None
    return None if len(of) == 1 else "the sandbox is reached by its public face"


def complaints(modules: Mapping[str, str]) -> list[str]:
    found = (each for module, source in modules.items() for each in imports_of(module, source, modules))
    return [f"{each}: {why}" for each in found if (why := complaint(each))]


def cycle(modules: Mapping[str, str]) -> list[str]:
    """Modules that import each other in a cycle, also for annotations alone; packages' own faces set aside."""
    graph = {
        module: {each.of for each in imports_of(module, source, modules)}
        for module, source in modules.items()
        if module not in PACKAGES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_module_has_its_floor() -> None:
    modules = {module for module in sources() if module.split(".")[0] != "sandbox"}
    assert len(modules) > 10
    assert {
        module for module in modules if module != "app" and (*module.split("."), "__init__")[1] not in FLOORS
    } == set()


def test_every_import_keeps_to_the_floors() -> None:
    assert complaints(sources()) == []


def test_no_modules_import_each_other_in_a_cycle() -> None:
    assert cycle(sources()) == []


@pytest.mark.parametrize(
    ("module", "source", "why"),
    [
        ("pyvision.types", "from pyvision.images import read", "imports go down"),
        ("pyvision.images", "from pyvision import solve", "imports go down"),
        ("pyvision.images", "import pyvision", "imports go down"),
        ("pyvision.images", "from . import episode", "imports go down"),
        ("pyvision.models.openai", "from ..episode import Episode", "imports go down"),
        ("pyvision.episode", "def f():\n    from pyvision.strategies import direct", "imports go down"),
        ("pyvision.images", "if TYPE_CHECKING:\n    import pyvision.episode", "imports go down"),
        ("pyvision.types", "if TYPE_CHECKING:\n    from pyvision.episode import Episode", "imports go down"),
        ("pyvision.solve", "class A:\n    import pyvision.cli.run", "imports go down"),
        ("pyvision.solve", "import app", "imports go down"),
        ("pyvision.strategies.direct", "import pyvision.strategies.code_loop", "do not know each other"),
        ("pyvision.strategies.bdog.graph", "from ..direct import Direct", "do not know each other"),
        (
            "pyvision.bench.plan",
            "from pyvision.bench.analysis.report import report",
            "does not depend on its",
        ),
        ("pyvision.solve", "from tests.doubles import Room", "does not need its tests"),
        ("sandbox.runtime.kernel", "from pyvision.types import Picture", "stands alone"),
        ("sandbox.runtime.kernel", "from sandbox.guest import launch", "do not import each other"),
        ("sandbox.guest.kernel", "from sandbox import policy", "do not import each other"),
        ("pyvision.outputs", "from sandbox import CellResult", "only floor 2"),
        ("pyvision.events", "from sandbox.runtime.kernel import Kernel", "only the results"),
        ("pyvision.episode", "from sandbox.session import Session", "public face"),
        ("pyvision.episode", "from sandbox import session", "public face"),
        ("pyvision.episode", "import sandbox.guest.launch", "public face"),
        ("pyvision.cli.run", "def f():\n    from PIL import Image", "Pillow stays"),
        ("sandbox.protocol.collect", "def f():\n    import PIL.Image", "Pillow stays"),
        ("pyvision.images", "from PIL import Image", "load where they are used"),
        (
            "pyvision.models.openai",
            "try:\n    import openai\nexcept ImportError: ...",
            "load where they are used",
        ),
        ("sandbox.runtime.kernel", "from jupyter_client.session import Session", "load where they are used"),
    ],
)
def test_an_import_that_breaks_a_rule_is_found(module: str, source: str, why: str) -> None:
    known = {"pyvision.solve", "pyvision.episode", "pyvision.strategies.direct"}
    known |= {"sandbox.policy", "sandbox.session", "sandbox.guest.launch"}
    (found,) = (complaint(each) for each in imports_of(module, source, known))
    assert found is not None
    assert why in found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("pyvision.events", "from sandbox.results import CellResult"),
        ("pyvision.episode", "from sandbox import CellResult"),
        ("pyvision.images", "def f():\n    from PIL import Image"),
        ("pyvision.images", "if TYPE_CHECKING:\n    from PIL import Image"),
        ("pyvision.strategies.bdog.graph", "from .debate import rounds"),
        ("pyvision", "def f():\n    from pyvision import solve"),
        ("sandbox.guest.kernel", "import zmq"),
        ("app", "from pyvision.cli import main"),
    ],
)
def test_an_import_that_breaks_no_rule_is_let_pass(module: str, source: str) -> None:
    assert [complaint(each) for each in imports_of(module, source, {"pyvision.solve"})] == [None]


@pytest.mark.parametrize("last", ["from .a import x", "if TYPE_CHECKING:\n    from .a import x", ""])
def test_a_cycle_of_imports_is_found(last: str) -> None:
    modules = {
        "pyvision.a": "def f():\n    import pyvision.b",
        "pyvision.b": "from pyvision import c",
        "pyvision.c": last,
    }
    assert set(cycle(modules)) == (set(modules) if last else set())


def test_a_module_without_a_floor_is_found() -> None:
    with pytest.raises(KeyError):
        floor_of("pyvision.utils")
