"""The opening of the conversation: our own prompts, or an upstream PyVision prompt JSON used as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from pyvision.errors import ConfigError
from pyvision.strategies.code_loop.observation import tag_picture
from pyvision.text.prompts import render
from pyvision.tools.cell_functions import format_tool
from pyvision.types import Message, Part, Question, Text

_PLACEHOLDER = re.compile(r"<IMAGE_PLACE_HOLDER_(\d+)>")


def open_conversation(
    question: Question, prompt_file: Path | None, prompt: str | None, tools: Mapping[str, str]
) -> tuple[tuple[Message, ...], tuple[Part, ...]]:
    """What stands before the next user turn, and that turn's parts. tools: name -> purpose, for our own prompts."""
    if question.earlier.messages:
        return question.earlier.messages, _turn(question, "follow_up")
    if prompt_file is not None:
        return (), _upstream_turn(question, _upstream_template(prompt_file, prompt))
    system = Message("system", (Text(render("code_loop/system.md") + _format(tools)),))
    return (system,), _turn(question, "question")


def check_prompt(prompt_file: Path | None, prompt: str | None) -> None:
    """Raises ConfigError for a prompt file that cannot be used, and for a template without its file."""
    if prompt_file is not None:
        _upstream_template(prompt_file, prompt)
    elif prompt is not None:
        raise ConfigError(
            f"--prompt {prompt!r} names a template of a file; give that file: --prompt-file FILE"
        )


def _format(tools: Mapping[str, str]) -> str:
    lines = "\n".join(f"- {format_tool(name, purpose)}" for name, purpose in tools.items())
    return "\n\n" + render("code_loop/tools.md", functions=lines) if tools else ""


def _turn(question: Question, template: str) -> tuple[Part, ...]:
    sizes = "\n".join(f"{name}: {p.width} x {p.height} pixels" for name, p in question.named_images)
    text = render(f"code_loop/{template}.md", sizes=sizes, question=question.full_text)
    return (*_all_tagged(question), Text(text))


def _all_tagged(question: Question) -> tuple[Part, ...]:
    return tuple(part for name, picture in question.named_images for part in tag_picture(name, picture))


def _upstream_turn(question: Question, template: str) -> tuple[Part, ...]:
    """One user turn as upstream lays it out: the images first, or where the text has a place for each."""
    text = _fill(template, question)
    if not _PLACEHOLDER.search(text):
        return (*_all_tagged(question), Text(text))
    pieces = _PLACEHOLDER.split(text)  # text, number, text, number, …, text
    named = question.named_images
    parts: list[Part] = [Text(pieces[0])]
    for number, following in zip(pieces[1::2], pieces[2::2], strict=True):
        if int(number) >= len(named):
            raise ConfigError(f"<IMAGE_PLACE_HOLDER_{number}> stands for no image; there are {len(named)}")
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
        raise ConfigError(f"the prompt template cannot be filled ({error}); it may use {known}") from error


def _upstream_template(file: Path, key: str | None) -> str:
    templates = _templates(file)
    if key is None and len(templates) == 1:
        return next(iter(templates.values()))
    if key not in templates:
        known = ", ".join(sorted(templates))
        raise ConfigError(f"{file}: no prompt {key!r}; name one with --prompt: {known}")
    return templates[key]


def _templates(file: Path) -> dict[str, str]:
    try:
        loaded = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: the prompt file cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{file}: the prompt file is not JSON: {error}") from error
    if not isinstance(loaded, dict) or not all(isinstance(text, str) for text in loaded.values()):
        raise ConfigError(f"{file}: a prompt file is a JSON object of texts, one per key")
    return loaded
