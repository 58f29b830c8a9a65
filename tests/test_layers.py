"""Imports go down the layers of the architecture, never up, and never from one strategy to another.

Covered: every import statement, also those inside functions and under TYPE_CHECKING.
Not covered: modules loaded by a computed name.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

LAYERS = (  # top to bottom; a module belongs to its longest entry
    ("cli", "demo", "doctor", "__main__", "app"),
    ("api", "__init__"),
    ("bench", "experiments", "runs"),
    ("solve", "conversation"),
    ("strategies",),
    ("agent",),
    ("models.factory", "tools.registry"),  # they build what is configured, such as the offline model
    ("offline",),
    ("models", "tools"),
    ("trajectory",),
    ("config", "text", "images", "pages"),
    ("types", "events", "errors"),
)
BUILDS = "pyvision.models.factory"  # the one module that reaches up, out of its package, to `offline`
DRAW = (  # with pyvision.images and what runs in the guest, they alone know Pillow
    "pyvision.bench.synthetic.canvas",
    "pyvision.doctor.pictures",
    "sandbox.escape_tests.runner",
)
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
PROGRAMS = ("programs",)  # folders of the sandbox that hold data
LOADED_BY_ITS_USER = (  # when it is used: they are made of its classes
    "sandbox.jupyter.provisioner",
    "pyvision.demo.page",
    "pyvision.experiments.avis_study.page",
)


@dataclass(frozen=True, slots=True)
class Import:
    """One import: by which module, of which module, on which line, and whether it happens on loading."""

    by: str
    of: str
    line: int
    on_loading: bool = True
    for_types: bool = False

    def __str__(self) -> str:
        return f"{self.by}, line {self.line}, imports {self.of}"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources() -> dict[str, str]:
    paths = [
        path
        for package in ("pyvision", "sandbox")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not (package == "sandbox" and set(PROGRAMS) & set(path.parts))
    ]
    return {module_of(path): path.read_text(encoding="utf-8") for path in [*paths, *ROOT.glob("app.py")]}


PACKAGES = {module_of(path) for top in ("pyvision", "sandbox") for path in (ROOT / top).rglob("__init__.py")}


_parse = cache(ast.parse)


def imports_of(module: str, source: str, known: Collection[str]) -> Iterator[Import]:
    """Every import of a module, with relative ones resolved."""
    return _imports(_parse(source), module, known, on_loading=True, for_types=False)


def _imports(
    node: ast.AST, module: str, known: Collection[str], *, on_loading: bool, for_types: bool
) -> Iterator[Import]:
    match node:
        case ast.Import(names=names, lineno=line):
            for name in names:
                yield Import(module, name.name, line, on_loading, for_types)
        case ast.ImportFrom(names=names, lineno=line):
            source = _source(node, module)
            for name in names:
                inner = f"{source}.{name.name}"
                yield Import(module, inner if inner in known else source, line, on_loading, for_types)
        case ast.If(test=ast.Name("TYPE_CHECKING"), body=body, orelse=otherwise):
            for child in body:
                yield from _imports(child, module, known, on_loading=False, for_types=True)
            for other in otherwise:
                yield from _imports(other, module, known, on_loading=on_loading, for_types=for_types)
        case _:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for inner_node in filter(_may_import, ast.iter_child_nodes(node)):
                yield from _imports(
                    inner_node, module, known, on_loading=on_loading and not inside, for_types=for_types
                )


def _may_import(node: ast.AST) -> bool:
    """An import is a statement, which no expression holds."""
    return isinstance(node, ast.stmt | ast.excepthandler | ast.match_case)


def _source(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    package = parts[: len(parts) - node.level + (module in PACKAGES)]
    return ".".join([*package, *([node.module] if node.module else [])])


def layer_of(module: str) -> int:
    """The layer of a module of pyvision, counted from below. Raises KeyError for one that has none."""
    name = module.removeprefix("pyvision.") if module != "pyvision" else "__init__"
    while name:
        for height, entries in enumerate(reversed(LAYERS)):
            if name in entries:
                return height
        name = name.rpartition(".")[0]
    raise KeyError(module)


def broken_rule(found: Import) -> str | None:
    """Which rule of the architecture an import breaks."""
    by, of = found.by.split("."), found.of.split(".")
    at_once = found.on_loading and found.by not in LOADED_BY_ITS_USER
    in_guest = by[:2] == ["sandbox", "guest"] or by[:3] == ["pyvision", "offline", "modules"]
    if at_once and of[0] in HEAVY and not in_guest:
        return "heavy libraries load where they are used"
    knows_pillow = in_guest or found.by in DRAW or by[:2] == ["pyvision", "images"]
    if of[0] == "PIL" and not knows_pillow:
        return "Pillow stays in pyvision/images"
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
    if layer_of(found.of) > layer_of(found.by):
        return "imports go down"
    if by[1:2] == of[1:2] == ["bench"] and "analysis" in of[2:3] and "analysis" not in by[2:3]:
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
    if layer_of(found.by) < layer_of("pyvision.agent"):
        return "only the agent and what lies above it know the sandbox"
    is_public = len(of) == 1 or of[1] == "escape_tests"  # those load for the command that runs them
    return None if is_public else "the sandbox is reached by its public API"


def all_imports(modules: Mapping[str, str]) -> list[Import]:
    return [each for module, source in modules.items() for each in imports_of(module, source, modules)]


def broken_rules(modules: Mapping[str, str]) -> list[str]:
    return [f"{each}: {why}" for each in all_imports(modules) if (why := broken_rule(each))]


def cycle(modules: Mapping[str, str]) -> list[str]:
    """Modules that import each other in a cycle; the faces of packages set aside."""
    graph = {
        module: {each.of for each in imports_of(module, source, modules) if each.of != module}
        for module, source in modules.items()
        if module not in PACKAGES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def mutual_packages(imports: Collection[Import]) -> set[tuple[str, str]]:
    """Packages of pyvision that import each other; a strategy, an experiment and the like are part of theirs."""
    edges: dict[str, set[str]] = defaultdict(set)
    for each in imports:
        by, of = each.by.split("."), each.of.split(".")
        if by[0] == of[0] == "pyvision" and len(by) > 2 and len(of) > 1 and each.by != BUILDS:
            edges[by[1]].add(of[1])
    return {(a, b) for a, others in edges.items() for b in others if a < b and a in edges.get(b, ())}


def test_every_module_has_its_layer() -> None:
    modules = [module for module in sources() if module.split(".")[0] != "sandbox"]
    assert len(modules) > 10
    assert [layer_of(module) for module in modules]


def test_every_import_keeps_to_the_layers() -> None:
    assert broken_rules(sources()) == []


def test_no_modules_import_each_other_in_a_cycle() -> None:
    assert cycle(sources()) == []


def test_no_two_packages_import_each_other() -> None:
    assert mutual_packages(all_imports(sources())) == set()


def test_the_root_of_the_package_holds_six_modules_at_most() -> None:
    loose = {path.stem for path in (ROOT / "pyvision").glob("*.py")} - {"__init__", "__main__"}
    assert loose == {"types", "events", "errors", "trajectory", "solve", "conversation"}


@pytest.mark.parametrize(
    ("module", "source", "why"),
    [
        ("pyvision.types", "from pyvision.images.read import read", "imports go down"),
        ("pyvision.images.read", "from pyvision import solve", "imports go down"),
        ("pyvision.images.read", "import pyvision", "imports go down"),
        ("pyvision.runs.export.atif", "import pyvision.api.ask", "imports go down"),
        ("pyvision.images.read", "from ..agent import episode", "imports go down"),
        ("pyvision.models.recording", "from ..agent.episode import Episode", "imports go down"),
        ("pyvision.models.retry", "from pyvision.models.factory import build", "imports go down"),
        ("pyvision.agent.episode", "def f():\n    from pyvision.strategies import direct", "imports go down"),
        ("pyvision.types", "if TYPE_CHECKING:\n    import pyvision.agent.episode", "imports go down"),
        ("pyvision.solve", "class A:\n    import pyvision.cli.commands.run", "imports go down"),
        ("pyvision.solve", "import app", "imports go down"),
        ("pyvision.strategies.direct", "import pyvision.strategies.code_loop", "do not know each other"),
        ("pyvision.strategies.bdog.graph", "from ..direct import Direct", "do not know each other"),
        ("pyvision.solve", "from tests.doubles import png", "does not need its tests"),
        ("sandbox.kernel", "from pyvision.types import Picture", "stands alone"),
        ("sandbox.kernel", "from sandbox.guest import launch", "do not import each other"),
        ("sandbox.guest.kernel", "from sandbox import policy", "do not import each other"),
        ("pyvision.text.sanitize", "from sandbox import CellResult", "only the agent"),
        ("pyvision.events", "from sandbox.kernel import Kernel", "only the results"),
        ("pyvision.agent.episode", "from sandbox.session import Session", "public API"),
        ("pyvision.agent.episode", "from sandbox import session", "public API"),
        ("pyvision.agent.episode", "import sandbox.guest.launch", "public API"),
        ("pyvision.cli.commands.run", "def f():\n    from PIL import Image", "Pillow stays"),
        ("sandbox.collect", "def f():\n    import PIL.Image", "Pillow stays"),
        ("pyvision.images.read", "from PIL import Image", "load where they are used"),
        (
            "pyvision.models.wires.openai_chat",
            "try:\n    import openai\nexcept ImportError: ...",
            "load where they are used",
        ),
        ("sandbox.kernel", "from jupyter_client.session import Session", "load where they are used"),
    ],
)
def test_an_import_that_breaks_a_rule_is_found(module: str, source: str, why: str) -> None:
    known = {"pyvision.solve", "pyvision.agent.episode", "pyvision.strategies.direct"}
    known |= {"sandbox.policy", "sandbox.session", "sandbox.guest.launch"}
    (found,) = (broken_rule(each) for each in imports_of(module, source, known))
    assert found is not None
    assert why in found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("pyvision.events", "from sandbox.results import CellResult"),
        ("pyvision.agent.episode", "from sandbox import CellResult"),
        ("pyvision.images.read", "def f():\n    from PIL import Image"),
        ("pyvision.images.read", "if TYPE_CHECKING:\n    from PIL import Image"),
        ("pyvision.models.factory", "def f():\n    from pyvision.offline import Offline"),
        ("pyvision.strategies.bdog.graph", "from .debate import rounds"),
        ("pyvision", "def f():\n    from pyvision import solve"),
        ("sandbox.guest.kernel", "import zmq"),
        ("pyvision.offline.modules.pyvision_offline.letters", "import numpy\nfrom PIL import Image"),
        ("app", "from pyvision.cli import main"),
    ],
)
def test_an_import_that_breaks_no_rule_passes(module: str, source: str) -> None:
    assert {broken_rule(each) for each in imports_of(module, source, {"pyvision.solve"})} == {None}


def test_a_cycle_of_modules_is_found() -> None:
    modules = {
        "pyvision.a": "def f():\n    import pyvision.b",
        "pyvision.b": "from pyvision import c",
        "pyvision.c": "if TYPE_CHECKING:\n    from .a import x",
    }
    assert set(cycle(modules)) == set(modules)


def test_two_packages_that_import_each_other_are_found() -> None:
    modules = {"pyvision.a.x": "from pyvision.b import y", "pyvision.b.y": "from pyvision.a import x"}
    assert mutual_packages(all_imports(modules)) == {("a", "b")}


def test_a_module_without_a_layer_is_found() -> None:
    with pytest.raises(KeyError):
        layer_of("pyvision.utils")
