"""The user turns: the opening, from our own prompts or an upstream PyVision prompt file, and what a cell output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError
from pyvision.strategies.code_loop.protocol import CodeProtocol, TextProtocol
from pyvision.text.prompts import render
from pyvision.text.sanitize import fit, share_by_need, without_dumps
from pyvision.types import Message, Part, Picture, Question, Text
from sandbox import CellResult, Figure, Output, Region, View

NO_VIEWS: Mapping[str, View] = MappingProxyType({})
_REGIONS = 6  # of one figure that are described
_PLACEHOLDER = re.compile(r"<IMAGE_PLACE_HOLDER_(\d+)>")


def open_conversation(  # noqa: PLR0913, PLR0917 - what the first messages are made of
    question: Question,
    prompt_file: Path | None,
    prompt: str | None,
    tools: Mapping[str, str],
    libraries: Iterable[str] = (),
    views: Mapping[str, View] = NO_VIEWS,
    protocol: CodeProtocol | None = None,
) -> tuple[tuple[Message, ...], tuple[Part, ...]]:
    """The messages before the next user turn, and that turn's parts.

    tools: name -> purpose; libraries: what cells can import. Both are for our own prompts. views: how the images are
    sent; those without one as they are. protocol: by default the text protocol.
    """
    protocol = protocol or TextProtocol()
    if question.earlier.messages:
        return protocol.resume(question.earlier.messages), _turn(question, "follow_up", views)
    if prompt_file is not None:
        return (), _upstream_turn(question, _upstream_template(prompt_file, prompt))
    names = ", ".join(("np", "plt", "Image", *libraries))
    sections = {name: render(f"code_loop/{name}_{protocol.name}.md") for name in ("turn", "material")}
    system = render("code_loop/system.md", names=names, **sections) + _tools_section(tools)
    return (Message("system", (Text(system),)),), _turn(question, "question", views)


def check_prompt(prompt_file: Path | None, prompt: str | None) -> None:
    """Raises ConfigError for a prompt file that cannot be used, or for a template name without a file."""
    if prompt_file is not None:
        _upstream_template(prompt_file, prompt)
    elif prompt is not None:
        raise ConfigError(
            f"--prompt {prompt!r} names a template in a file; give that file with --prompt-file FILE"
        )


def observe(result: CellResult, episode: Episode, output_chars: int) -> tuple[Part, ...]:
    """What a cell showed: text and figures in their order, then how the cell ended.

    Each figure is defined in the kernel under the tag it is shown with. Tags printed by the cell are neutralised.
    output_chars: of all texts together. Where some was left out, the turn says how to see it.
    """
    runs = [(is_figure, list(group)) for is_figure, group in groupby(result.outputs, _is_figure)]
    printed = [CellResult("ok", tuple(outputs)).text for is_figure, outputs in runs if not is_figure]
    whole = [without_dumps(text) for text in (*printed, _error_text(result))]
    shares = share_by_need([len(text) for text in whole], output_chars)
    *texts, error = (fit(text, share) for text, share in zip(whole, shares, strict=True))
    parts: list[Part] = []
    for is_figure, outputs in runs:
        if is_figure:
            parts += _figure_parts([output for output in outputs if isinstance(output, Figure)], episode)
        else:
            parts.append(Text(texts.pop(0).rstrip("\n") + "\n"))
    if sum(map(len, whole)) > output_chars:
        parts.append(Text(render("code_loop/output_cut.md", limit=f"{output_chars:,}") + "\n"))
    ending = _ending(result, error)
    if ending or not runs:
        parts.append(Text((ending or render("code_loop/no_output.md")) + "\n"))
    return tuple(parts)


def tag_picture(name: str, picture: Picture) -> tuple[Part, ...]:
    """An image between its tags, as the model sees every image that it may refer to."""
    return (Text(f"<{name}>\n"), picture, Text(f"\n</{name}>\n"))


def _tools_section(tools: Mapping[str, str]) -> str:
    if not tools:
        return ""
    from pyvision.tools.cell_functions import format_tool

    lines = "\n".join(f"- {format_tool(name, purpose)}" for name, purpose in tools.items())
    return "\n\n" + render("code_loop/tools.md", functions=lines)


def _turn(question: Question, template: str, views: Mapping[str, View]) -> tuple[Part, ...]:
    sizes = "\n".join(
        _describe(name, picture, views.get(name, View())) for name, picture in question.named_images
    )
    text = render(f"code_loop/{template}.md", sizes=sizes, question=question.full_text)
    return (*_tag_images(question), Text(text))


def _tag_images(question: Question) -> tuple[Part, ...]:
    return tuple(part for name, picture in question.named_images for part in tag_picture(name, picture))


def _upstream_turn(question: Question, template: str) -> tuple[Part, ...]:
    """One user turn as upstream lays it out: each image at its placeholder, or all images first."""
    text = _fill(template, question)
    if not _PLACEHOLDER.search(text):
        return (*_tag_images(question), Text(text))
    pieces = _PLACEHOLDER.split(text)  # text, number, text, number, …, text
    named = question.named_images
    parts: list[Part] = [Text(pieces[0])]
    for number, following in zip(pieces[1::2], pieces[2::2], strict=True):
        if int(number) >= len(named):
            raise ConfigError(f"<IMAGE_PLACE_HOLDER_{number}> refers to no image; there are {len(named)}")
        parts += [*tag_picture(*named[int(number)]), Text(following)]
    return tuple(part for part in parts if part != Text(""))


def _fill(template: str, question: Question) -> str:
    named = question.named_images
    information = "\n".join(f"width of {n}: {p.width}, height of {n}: {p.height}" for n, p in named)
    width, height = (named[0][1].width, named[0][1].height) if named else (0, 0)
    try:
        return template.format(
            query=question.full_text, width=width, height=height, image_information=information
        )
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        known = "{query} {width} {height} {image_information}; other braces are doubled"
        raise ConfigError(f"the prompt template cannot be filled in ({error}); it may use {known}") from error


def _upstream_template(file: Path, key: str | None) -> str:
    templates = _templates(file)
    if key is None and len(templates) == 1:
        return next(iter(templates.values()))
    if key not in templates:
        known = ", ".join(sorted(templates))
        raise ConfigError(f"{file}: no prompt {key!r}; choose one with --prompt: {known}")
    return templates[key]


def _templates(file: Path) -> dict[str, str]:
    try:
        loaded = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: the prompt file cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{file}: the prompt file is not JSON: {error}") from error
    if not isinstance(loaded, dict) or not all(isinstance(text, str) for text in loaded.values()):
        raise ConfigError(f"{file}: a prompt file must be a JSON object that maps names to texts")
    return loaded


def _is_figure(output: Output) -> bool:
    return isinstance(output, Figure)


def _figure_parts(figures: list[Figure], episode: Episode) -> list[Part]:
    named = episode.define_images(figures)
    views = episode.views("solver", named)
    parts: list[Part] = []
    for name, picture in named:
        parts += [*tag_picture(name, picture), Text(_describe(name, picture, views[name]) + "\n")]
    refused = len(figures) - len(named)
    return [*parts, Text(render("code_loop/figure_refused.md", count=refused) + "\n")] if refused else parts


def _error_text(result: CellResult) -> str:
    """The traceback of a cell that raised."""
    error = result.error
    if result.status != "error":
        return ""
    return (error.traceback or f"{error.name}: {error.message}") if error else "the cell failed"


def _describe(name: str, picture: Picture, view: View) -> str:
    """One line: name and size of an image, the size at which it is sent, and what it shows if it is a figure."""
    line = (
        f"{name}: {picture.width} x {picture.height} pixels, shown at {_size_without_padding(picture, view)}"
    )
    targets = [_describe_region(region) for region in (view.regions or ())[:_REGIONS]]
    return f"{line}; shows {', '.join(targets)}" if targets else line


def _size_without_padding(picture: Picture, view: View) -> str:
    """Without what was padded at the right and at the bottom."""
    x_scale, y_scale = view.shown[2:] if view.shown else (1.0, 1.0)
    size = round(picture.width * x_scale), round(picture.height * y_scale)
    return "full size" if size == (picture.width, picture.height) else f"{size[0]} x {size[1]}"


def _describe_region(region: Region) -> str:
    left, top, right, bottom = map(round, region.target)
    a, b, _, d, e, _ = region.matrix
    way = "" if b == d == 0 and a > 0 and e > 0 else ", mirrored or turned"
    return f"{region.name} from ({left}, {top}) to ({right}, {bottom}){way}"


def _ending(result: CellResult, error_text: str) -> str:
    state = "" if result.status == "ok" else _state(result)
    match result.status:
        case "ok":
            return state
        case "timeout":
            line = f" at line {result.error.line}" if result.error and result.error.line else ""
            return render("code_loop/timeout.md", seconds=f"{result.seconds:.1f}", line=line, state=state)
        case "died":
            return render("code_loop/died.md", seconds=f"{result.seconds:.1f}", state=state)
        case "error":
            return f"Error:\n{error_text}" + (f"\n{state}" if result.state == "lost" else "")


def _state(result: CellResult) -> str:
    return render(f"code_loop/state_{result.state}.md")
