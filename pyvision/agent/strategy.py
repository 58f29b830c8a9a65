"""What a strategy is: a way of reasoning that works with an Episode; and how its options are set."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, cast, get_args, get_origin, get_type_hints, overload

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, suggest_nearest
from pyvision.types import Answer, Question

Options = TypeVar("Options")

_TYPES = {
    bool: "true or false",
    float: "a number",
    int: "an integer",
    Path: "a path",
    str: "text",
    types.NoneType: "none",
}


class Strategy(Protocol):
    """A way of reasoning: a frozen dataclass whose fields are its options. Holds nothing between questions.

    roles: the roles in which it asks models. tools: the names of the tools that it uses. needs: those of them that it
    requires. continues: whether it continues `Question.earlier`. runs_code: whether it runs any cell.
    An option that cannot be used is a ConfigError when the strategy is made.
    """

    @property
    def roles(self) -> tuple[str, ...]: ...

    @property
    def tools(self) -> tuple[str, ...]: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def continues(self) -> bool: ...

    @property
    def runs_code(self) -> bool: ...

    def solve(self, question: Question, episode: Episode) -> Answer: ...


@overload
def with_options(strategy: type[Options], options: Mapping[str, object]) -> Options: ...
@overload
def with_options(strategy: Options, options: Mapping[str, object]) -> Options: ...
def with_options(strategy: Any, options: Mapping[str, object]) -> Any:
    """The dataclass (or its class, with defaults) with fields set as `--set key=value` says, or by their values.

    `none` unsets a field that may be None. Raises ConfigError for unknown keys and values of the wrong type.
    """
    kind = strategy if isinstance(strategy, type) else type(strategy)
    hints = get_type_hints(kind) if options else {}
    known = {option.name: hints[option.name] for option in fields(kind)} if options else {}
    values = {key: _convert(key, value, known) for key, value in options.items()}
    return strategy(**values) if isinstance(strategy, type) else replace(strategy, **values)


def check_least(strategy: object, **least: int) -> None:
    """Raises ConfigError if one of these options is below its least value."""
    for name, value in least.items():
        if (given := getattr(strategy, name)) < value:
            raise ConfigError(f"option {name} is {given}; it must be {value} or more")


def _convert(key: str, value: object, known: Mapping[str, Any]) -> Any:
    from pydantic import TypeAdapter, ValidationError

    if key not in known:
        options = ", ".join(f"{name} ({_spell(hint)})" for name, hint in known.items())
        listed = f"its options are {options}" if options else "it has none"
        raise ConfigError(f"the strategy has no option {key!r}; {suggest_nearest(key, known) or listed}")
    hint = known[key]
    is_list = isinstance(value, list | tuple)
    text = ",".join(map(str, cast("Sequence[object]", value))) if is_list else str(value)
    if text.lower() == "none" and types.NoneType in get_args(hint):
        return None
    try:
        return TypeAdapter(hint).validate_strings(text)
    except ValidationError:
        raise ConfigError(f"option {key} is {text!r}; it takes {_spell(hint)}") from None


def _spell(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if get_args(hint):
        return " or ".join(_spell(part) for part in get_args(hint))
    own = getattr(hint, "form", hint.__name__)  # a type of our own says how it is written
    return _TYPES.get(hint, str(own))
