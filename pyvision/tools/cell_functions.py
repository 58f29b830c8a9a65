"""Tools as functions that a cell calls: `host.vqa(image, question)` becomes a request and returns the tool's data.

Covered: arguments come out of a sandbox, so all of them are checked here; a tool that fails raises in the cell.
Not covered: a tool's result may contain text that someone else wrote, and a cell may print it. The code that shows
the cell's output to a model has to mark it as untrusted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyvision.errors import ToolError
from pyvision.types import Observation, Picture, ToolRequest

CallTool: TypeAlias = Callable[[str, ToolRequest], Observation]  # takes a tool's name; a method of Episode


@dataclass(frozen=True, slots=True)
class Call:
    """How a cell calls one tool. request: builds the request. returns: the result, as a prompt describes it."""

    request: Callable[..., ToolRequest]
    returns: str


def host_functions(call_tool: CallTool, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The functions of these tools by name, as `Episode.run` passes them to a cell."""
    return {name: host_function(call_tool, name) for name in names}


def host_function(call_tool: CallTool, name: str) -> Callable[..., Any]:
    """The function of one tool: takes the arguments of a cell, returns plain values.

    The function raises ToolError for wrong arguments and for a failed tool, ImageError for a broken image, and
    what `call_tool` raises.
    """
    request_of = _find_call(name).request

    def function(*arguments: Any, **options: Any) -> Any:
        try:
            bound = inspect.signature(request_of).bind(*arguments, **options)
        except TypeError as error:
            raise ToolError(f"{error}; call it as {usage(name)}") from None
        observation = call_tool(name, request_of(*bound.args, **bound.kwargs))
        if observation.error is not None:
            raise ToolError(observation.error)
        return observation.data if observation.data is not None else observation.text

    return function


def usage(name: str) -> str:
    """How a cell calls a tool: `host.vqa(image, question)`."""
    signature = inspect.signature(_find_call(name).request)
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return f"host.{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}"


def format_tool(name: str, purpose: str) -> str:
    """The line about a tool in the prompt of a model that writes cells."""
    returns = _find_call(name).returns
    return f"{usage(name)}: {purpose}." + (f" Returns {returns}." if returns else "")


def _find_call(name: str) -> Call:
    return CALLS.get(name, _ANY)


def _picture(value: object) -> Picture:
    """An image from a cell: the bytes of a file, or an object that has them as `data`."""
    from pyvision.images.read import decode

    data = value if isinstance(value, bytes) else getattr(value, "data", None)
    if not isinstance(data, bytes):
        raise ToolError(f"expected an image, not {_kind(value)}; give a PIL image or an array")
    return decode(data, "given by the cell")


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ToolError(f"{what} must be text, not {_kind(value)}")
    return value


def _texts(value: object, what: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise ToolError(f"{what} must be a list of texts, not {_kind(value)}")
    return [_text(each, f"each item of {what}") for each in value]


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _image_request(image: object) -> ToolRequest:
    return ToolRequest(picture=_picture(image))


def _question_request(image: object, question: object) -> ToolRequest:
    return ToolRequest(_text(question, "question"), _picture(image))


def _detect_request(image: object, name: object = "") -> ToolRequest:
    return ToolRequest(_text(name, "name"), _picture(image))


def _match_request(image: object, texts: object) -> ToolRequest:
    return ToolRequest(picture=_picture(image), options={"texts": _texts(texts, "texts")})


def _verify_request(image: object, name: object, property: object) -> ToolRequest:  # noqa: A002
    return ToolRequest(_text(name, "name"), _picture(image), {"property": _text(property, "property")})


def _text_request(question: object, context: object = "", long: object = False) -> ToolRequest:  # noqa: FBT002
    options = {"context": _text(context, "context"), "long": bool(long)}
    return ToolRequest(_text(question, "question"), options=options)


def _query_request(query: object) -> ToolRequest:
    return ToolRequest(_text(query, "query"))


def _any_request(*values: Any, **options: object) -> ToolRequest:
    """For a custom tool: at most one text and one image; options are passed on."""
    texts = [value for value in values if isinstance(value, str)]
    pictures = [_picture(value) for value in values if not isinstance(value, str)]
    if len(texts) > 1 or len(pictures) > 1:
        raise ToolError("got more than one text or image; pass options by keyword")
    return ToolRequest("".join(texts), pictures[0] if pictures else None, options)


_ANY = Call(_any_request, "")
_HITS = '{"hits": [{"id", "title", "text", "score"}]}, best first'

CALLS: Mapping[str, Call] = {
    "caption": Call(_image_request, '{"caption": text}'),
    "vqa": Call(_question_request, '{"answer": text}'),
    "llm_qa": Call(_text_request, '{"answer": text}'),
    "detect": Call(_detect_request, '{"boxes": [{"left", "top", "right", "bottom", "score", "label"}]}'),
    "match": Call(_match_request, '{"scores": [number]}, one per text, higher is a better match'),
    "verify": Call(_verify_request, '{"holds": true or false}'),
    "depth": Call(
        _image_request,
        '{"depth": rows of numbers, "width", "height"}, larger is farther, at most 64x64 cells',
    ),
    "ocr": Call(_image_request, '{"lines": [{"text", "left", "top", "right", "bottom", "score"}]}'),
    "identical_image": Call(_image_request, _HITS),
    "similar_image": Call(_image_request, _HITS),
    "document": Call(_query_request, _HITS),
    "web_search": Call(_query_request, '{"hits": [{"title", "text", "url", "score"}]}, best first'),
}
