"""Tools as functions that a cell calls: `host.vqa(image, question)` becomes a request, its data what comes back.

Covered: whatever a cell hands over is checked here, as it comes out of a sandbox; a tool that fails is an exception in
the cell.
Not covered: a cell may print what a tool gave, and it may have been written by somebody else: whoever shows it to a
model says that it is material.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pyvision.errors import ConfigError, ToolError
from pyvision.types import Observation, Picture, ToolRequest

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

Use: TypeAlias = Callable[[str, ToolRequest], Observation]  # `Episode.use` is one
ROLES = ("caption", "vqa", "llm_qa", "detect", "match")  # tools that may ask a model, in a role of their name


@dataclass(frozen=True, slots=True)
class Call:
    """How a cell calls one tool. request: of the cell's arguments. gives: the data, as a model is told of it."""

    request: Callable[..., ToolRequest]
    gives: str


class ToolNames(tuple[str, ...]):
    """Names of tools, as `--set tools=caption,ocr` gives them."""

    __slots__ = ()

    @classmethod
    def parsed(cls, text: str) -> ToolNames:
        """The names between commas, each once; brackets and quotes of a recorded list are left aside."""
        names = [piece.strip(" \t\n'\"") for piece in text.strip(" \t\n[]()").split(",")]
        for name in filter(None, names):
            if not name.isidentifier():
                raise ConfigError(f"option tools: {name!r} is no name of a tool; give names: caption,ocr")
        return cls(dict.fromkeys(filter(None, names)))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> Any:
        from pydantic import AfterValidator

        return handler.generate_schema(Annotated[str, AfterValidator(cls.parsed)])


NO_TOOLS = ToolNames()


def host_functions(use: Use, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The functions of some tools by name, as `Episode.run` hands them to a cell."""
    return {name: host_function(use, name) for name in names}


def host_function(use: Use, name: str) -> Callable[..., Any]:
    """The function of one tool: takes what a cell hands over, gives plain values.

    Raises ToolError for arguments that do not fit and for what the tool cannot do, ImageError for a broken picture,
    and what `use` raises.
    """
    request_of = _call(name).request

    def function(*arguments: Any, **options: Any) -> Any:
        try:
            bound = inspect.signature(request_of).bind(*arguments, **options)
        except TypeError as error:
            raise ToolError(f"{error}; call it as {usage(name)}") from None
        observation = use(name, request_of(*bound.args, **bound.kwargs))
        if observation.error is not None:
            raise ToolError(observation.error)
        return observation.data if observation.data is not None else observation.text

    return function


def usage(name: str) -> str:
    """How a cell calls a tool: `host.vqa(image, question)`."""
    signature = inspect.signature(_call(name).request)
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return f"host.{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}"


def format_tool(name: str, purpose: str) -> str:
    """The line about a tool for a model that writes cells."""
    gives = _call(name).gives
    return f"{usage(name)}: {purpose}." + (f" Returns {gives}." if gives else "")


def _call(name: str) -> Call:
    return CALLS.get(name, _ANY)


def _picture(value: object) -> Picture:
    """A picture out of a cell: the bytes of a file, or what holds them as its `data`."""
    from pyvision.images.read import decode

    data = value if isinstance(value, bytes) else getattr(value, "data", None)
    if not isinstance(data, bytes):
        raise ToolError(f"an image is needed here, not {_kind(value)}; give a PIL image, or an array of one")
    return decode(data, "given by the cell")


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ToolError(f"{what} has to be text, not {_kind(value)}")
    return value


def _texts(value: object, what: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise ToolError(f"{what} has to be a list of texts, not {_kind(value)}")
    return [_text(each, f"each of {what}") for each in value]


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def _looking(image: object) -> ToolRequest:
    return ToolRequest(picture=_picture(image))


def _asking(image: object, question: object) -> ToolRequest:
    return ToolRequest(_text(question, "question"), _picture(image))


def _detecting(image: object, name: object = "") -> ToolRequest:
    return ToolRequest(_text(name, "name"), _picture(image))


def _matching(image: object, texts: object) -> ToolRequest:
    return ToolRequest(picture=_picture(image), options={"texts": _texts(texts, "texts")})


def _reading(question: object, context: object = "", long: object = False) -> ToolRequest:  # noqa: FBT002
    options = {"context": _text(context, "context"), "long": bool(long)}
    return ToolRequest(_text(question, "question"), options=options)


def _searching(query: object) -> ToolRequest:
    return ToolRequest(_text(query, "query"))


def _anything(*values: Any, **options: object) -> ToolRequest:
    """For a tool that somebody added: at most one text and one image, and options as they are."""
    texts = [value for value in values if isinstance(value, str)]
    pictures = [_picture(value) for value in values if not isinstance(value, str)]
    if len(texts) > 1 or len(pictures) > 1:
        raise ToolError("more than one text or image was given; give options by name")
    return ToolRequest("".join(texts), pictures[0] if pictures else None, options)


_ANY = Call(_anything, "")
_HITS = '{"hits": [{"id", "title", "text", "score"}]}, best first'

CALLS: Mapping[str, Call] = {
    "caption": Call(_looking, '{"caption": text}'),
    "vqa": Call(_asking, '{"answer": text}'),
    "llm_qa": Call(_reading, '{"answer": text}'),
    "detect": Call(_detecting, '{"boxes": [{"left", "top", "right", "bottom", "score", "label"}]}'),
    "match": Call(_matching, '{"scores": [number]}, one a text, higher fits better'),
    "depth": Call(
        _looking, '{"depth": rows of numbers, "width", "height"}, larger is farther, at most 64x64 cells'
    ),
    "ocr": Call(_looking, '{"lines": [{"text", "left", "top", "right", "bottom", "score"}]}'),
    "identical_image": Call(_looking, _HITS),
    "similar_image": Call(_looking, _HITS),
    "document": Call(_searching, _HITS),
    "web_search": Call(_searching, '{"hits": [{"title", "text", "url", "score"}]}, best first'),
}
