"""Which tools there are, and who can provide each; `--tool TOOL=PROVIDER[:WHERE]` chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from pyvision.errors import ConfigError
from pyvision.types import Tool

Build = Callable[[str], Tool]  # of what stands behind the colon, empty if nothing does


@dataclass(frozen=True, slots=True)
class Row:
    """One tool. providers: name -> how its tool is built. usual: who provides it unless told; offline: when the
    common model is `offline`. None: the tool is there only when somebody asks for it.
    """

    providers: Mapping[str, Build]
    usual: str | None
    offline: str | None


def _from(module: str, function: str, *first: str) -> Build:
    """Builds by a function of a module that is imported when it is used; it takes `first`, then what was told."""

    def build(where: str) -> Tool:
        tool: Tool = getattr(import_module(module), function)(*first, where)
        return tool

    return build


_PERCEPTION = {
    "model": "pyvision.tools.perception.model",
    "hf": "pyvision.tools.perception.hugging_face",
    "offline": "pyvision.offline.perception.tools",
}


def _perceived(tool: str, *providers: str) -> Mapping[str, Build]:
    """Each provider of perception is a module that builds a tool by the function of the tool's name."""
    return {provider: _from(_PERCEPTION[provider], tool) for provider in providers}


# No multimodal model is asked for depth: it takes a network made for it. Text in pictures takes an engine, and the web
# is left alone: all three only when somebody says who provides them.
ROWS: Mapping[str, Row] = {
    "caption": Row(_perceived("caption", "model", "hf", "offline"), "model", "offline"),
    "vqa": Row(_perceived("vqa", "model", "hf", "offline"), "model", "offline"),
    "llm_qa": Row(_perceived("llm_qa", "model", "offline"), "model", "offline"),
    "detect": Row(_perceived("detect", "model", "hf", "offline"), "model", "offline"),
    "match": Row(_perceived("match", "model", "hf", "offline"), "model", "offline"),
    "depth": Row(_perceived("depth", "hf", "offline"), None, "offline"),
    "ocr": Row(
        {
            "rapidocr": _from("pyvision.tools.perception.ocr", "rapidocr"),
            "tesseract": _from("pyvision.tools.perception.ocr", "tesseract"),
            **_perceived("ocr", "offline"),
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


def build_tools(
    names: Sequence[str], chosen: Mapping[str, str | Tool], *, is_offline: bool
) -> Mapping[str, Tool]:
    """The tools of these names, each from its chosen provider or the usual one; those without any are left out.

    Raises ConfigError for a tool or a provider that is not known.
    """
    given = {name: chosen[name] for name in chosen if not isinstance(chosen[name], str)}
    providers = describe(names, chosen, is_offline=is_offline)
    return {
        name: each if not isinstance(each := given.get(name, ""), str) else _build(name, providers[name])
        for name in names
        if name in given or name in providers
    }


def describe(names: Sequence[str], chosen: Mapping[str, str | Tool], *, is_offline: bool) -> dict[str, str]:
    """Tool -> PROVIDER[:WHERE], as it is written down; a Tool that was given is told by its type."""
    for name in chosen:
        if name not in names:
            known = ", ".join(names) or "none"
            raise ConfigError(f"unknown tool {name!r}; the tools of this strategy are: {known}")
    told = {name: _format(chosen[name]) if name in chosen else _usual(name, is_offline) for name in names}
    return {name: provider for name, provider in told.items() if provider is not None}


def read_choice(told: Mapping[str, str], *, is_offline: bool) -> dict[str, str]:
    """What somebody had chosen of what `describe` wrote down: no object of a program, and not the usual one."""
    return {
        name: provider
        for name, provider in told.items()
        if provider != _usual(name, is_offline)
        and name in ROWS
        and provider.partition(":")[0] in ROWS[name].providers
    }


def _format(provider: str | Tool) -> str:
    return provider if isinstance(provider, str) else type(provider).__name__


def _usual(name: str, is_offline: bool) -> str | None:  # noqa: FBT001 - private
    row = ROWS.get(name)
    return None if row is None else row.offline if is_offline else row.usual


def _build(name: str, provider: str) -> Tool:
    kind, _, where = provider.partition(":")
    providers = ROWS[name].providers if name in ROWS else {}
    if kind not in providers:
        known = ", ".join(providers) or "none"
        raise ConfigError(f"--tool {name}={provider}: unknown provider {kind!r}; it has: {known}")
    return providers[kind](where)
