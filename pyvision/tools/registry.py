"""Which tools there are, who can provide each, and what a provider needs on this machine.

`--tool TOOL=PROVIDER[:WHERE]` chooses a provider; WHERE is its own setting, such as the name of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pyvision.config.environment import environment
from pyvision.errors import ConfigError, MissingExtra, suggest, suggest_nearest
from pyvision.types import Tool

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

Build: TypeAlias = Callable[[str], Tool]  # takes WHERE, the text after the colon; empty if there is none
Check: TypeAlias = Callable[[str, str], None]  # takes the tool's name and WHERE


@dataclass(frozen=True, slots=True)
class Row:
    """One tool. providers: name -> function that builds the tool.

    default: the provider if none is chosen; offline: the same when the main model is `offline`. None: the tool exists
    only if a provider is chosen.
    """

    providers: Mapping[str, Build]
    default: str | None
    offline: str | None


def _from(module: str, function: str, *first: str) -> Build:
    """Build with a function of a module, which is imported on use; the function takes `first`, then WHERE."""

    def build(where: str) -> Tool:
        tool: Tool = getattr(import_module(module), function)(*first, where)
        return tool

    return build


_PERCEPTION = {
    "model": "pyvision.tools.perception.model",
    "hf": "pyvision.tools.perception.hugging_face",
    "offline": "pyvision.offline.perception.tools",
}


def _perception(tool: str, *providers: str) -> Mapping[str, Build]:
    """Each provider is a module; it builds a tool with the function of the tool's name."""
    return {provider: _from(_PERCEPTION[provider], tool) for provider in providers}


# No default provider: depth needs a special network, ocr an engine, and web_search sends data to a third party.
ROWS: Mapping[str, Row] = {
    "caption": Row(_perception("caption", "model", "hf", "offline"), "model", "offline"),
    "vqa": Row(_perception("vqa", "model", "hf", "offline"), "model", "offline"),
    "llm_qa": Row(_perception("llm_qa", "model", "offline"), "model", "offline"),
    "detect": Row(_perception("detect", "model", "hf", "offline"), "model", "offline"),
    "match": Row(_perception("match", "model", "hf", "offline"), "model", "offline"),
    "verify": Row(_perception("verify", "model"), "model", None),
    "depth": Row(_perception("depth", "hf", "offline"), None, "offline"),
    "ocr": Row(
        {
            "rapidocr": _from("pyvision.tools.perception.ocr", "rapidocr"),
            "tesseract": _from("pyvision.tools.perception.ocr", "tesseract"),
            **_perception("ocr", "offline"),
        },
        None,
        "offline",
    ),
    **{
        name: Row({"index": _from("pyvision.tools.retrieval.tools", "index_tool", name)}, "index", "index")
        for name in ("identical_image", "similar_image", "document")
    },
    "web_search": Row(
        {
            engine: _from("pyvision.tools.web.search", "web_tool", engine)
            for engine in ("ddgs", "tavily", "serpapi")
        },
        None,
        None,
    ),
}
ROLES = ("caption", "vqa", "llm_qa", "detect", "match")
"""Tools that may ask a model, in the role of their name."""


class ToolNames(tuple[str, ...]):
    """Names of tools, as `--set tools=caption,ocr` gives them."""

    __slots__ = ()
    form = "names, for example caption,ocr"  # as an error message describes it

    @classmethod
    def parse(cls, text: str) -> ToolNames:
        """The names between commas, each once; brackets and quotes, as in a recorded list, are ignored."""
        names = [piece.strip(" \t\n'\"") for piece in text.strip(" \t\n[]()").split(",")]
        for name in filter(None, names):
            if not name.isidentifier():
                raise ConfigError(f"option tools: {name!r} is not the name of a tool; give {cls.form}")
        return cls(dict.fromkeys(filter(None, names)))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> Any:
        from pydantic import AfterValidator

        return handler.generate_schema(Annotated[str, AfterValidator(cls.parse)])


NO_TOOLS = ToolNames()


def build_tools(
    names: Sequence[str], chosen: Mapping[str, str | Tool], *, is_offline: bool
) -> Mapping[str, Tool]:
    """The named tools, each from its chosen or default provider; those without a provider are omitted.

    Raises ConfigError for an unknown tool or provider.
    """
    given = {name: chosen[name] for name in chosen if not isinstance(chosen[name], str)}
    providers = describe(names, chosen, is_offline=is_offline)
    return {
        name: each if not isinstance(each := given.get(name, ""), str) else _build(name, providers[name])
        for name in names
        if name in given or name in providers
    }


def describe(names: Sequence[str], chosen: Mapping[str, str | Tool], *, is_offline: bool) -> dict[str, str]:
    """Tool -> PROVIDER[:WHERE], as a run records it; for a Tool object the name of its type."""
    for name in chosen:
        if name not in names:
            hint = suggest_nearest(name, ROWS) + " " if name not in ROWS else ""
            known = ", ".join(names) or "none"
            raise ConfigError(
                f"unknown tool {name!r}; {hint.lstrip()}the tools of this strategy are: {known}"
            )
    providers = {
        name: _format(chosen[name]) if name in chosen else _default(name, is_offline) for name in names
    }
    return {name: provider for name, provider in providers.items() if provider is not None}


def read_choice(described: Mapping[str, str], *, is_offline: bool) -> dict[str, str]:
    """What the user chose, from the result of `describe`: without default providers and without Tool objects."""
    return {
        name: provider
        for name, provider in described.items()
        if provider != _default(name, is_offline)
        and name in ROWS
        and provider.partition(":")[0] in ROWS[name].providers
    }


def _format(provider: str | Tool) -> str:
    return provider if isinstance(provider, str) else type(provider).__name__


def _default(name: str, is_offline: bool) -> str | None:  # noqa: FBT001 - private
    row = ROWS.get(name)
    return None if row is None else row.offline if is_offline else row.default


def _build(name: str, provider: str) -> Tool:
    kind, _, where = provider.partition(":")
    providers = ROWS[name].providers if name in ROWS else {}
    if kind not in providers:
        hint = suggest(kind, providers, "known providers:") if providers else "this tool has none"
        raise ConfigError(f"--tool {name}={provider}: unknown provider {kind!r}; {hint}")
    return providers[kind](where)


def check_presence(chosen: Mapping[str, object]) -> None:
    """Raise ConfigError if a chosen provider lacks a package, a program or a file on this machine.

    chosen: tool -> PROVIDER[:WHERE], or a Tool. Nothing is loaded: this runs before a question, so that it fails
    early and not at the first use of a tool.
    Not covered: a folder that holds no model, a name unknown to the hub, a service that is down.
    """
    for tool, provider in chosen.items():
        if isinstance(provider, str):
            kind, _, where = provider.partition(":")
            if kind in CHECKS:
                CHECKS[kind](tool, where)


def _check_hugging_face(tool: str, where: str) -> None:
    for package in ("torch", "transformers"):
        _check_package(package, "vision")
    folder = Path(where).expanduser()
    if where.startswith(("/", "./", "../", "~")) and not folder.exists():
        raise ConfigError(
            f"--tool {tool}=hf:{where}: there is no such folder; give a folder or the name of a model"
        )


def _check_rapidocr(tool: str, where: str) -> None:
    _check_package("rapidocr", "ocr")


def _check_tesseract(tool: str, where: str) -> None:
    if which("tesseract") is None:
        raise ConfigError(
            f"--tool {tool}=tesseract: the program tesseract is not installed; "
            "install it with: sudo apt-get install tesseract-ocr"
        )


def _check_ddgs(tool: str, where: str) -> None:
    if "only-cache" not in where.split(","):  # the cache is read without the package
        _check_package("ddgs", "web")


def _check_index(tool: str, where: str) -> None:
    from pyvision.tools.retrieval.database import index_path

    path = index_path(where, environment())
    if not path.is_file():
        raise ConfigError(
            f"--tool {tool}=index: there is no index {str(path)!r}; "
            "create it with `pyvision index add PATH --index FILE`"
        )


def _check_package(name: str, extra: str) -> None:
    if find_spec(name) is None:
        raise MissingExtra(name, extra)


CHECKS: Mapping[str, Check] = {  # by provider; the others need nothing on this machine
    "hf": _check_hugging_face,
    "rapidocr": _check_rapidocr,
    "tesseract": _check_tesseract,
    "ddgs": _check_ddgs,
    "index": _check_index,
}
