"""Go on from a turn of a recorded run with other code in its cell, or with another model, prompt or option.

The replies on record are given again, the one of the turn with its code replaced, and the strategy runs as ever: its
cells run, its figures get their names, its conversation grows. Where the record ends the model of the fork is asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Sandbox, Session
from pyvision.config.model_config import with_options
from pyvision.errors import ConfigError, FormatError
from pyvision.events import ImageDefined, ModelCall
from pyvision.runs.report.run import Run
from pyvision.solve import STRATEGIES, Task, prepare
from pyvision.text.replies import find_code, thought
from pyvision.tools.registry import read_choice
from pyvision.trajectory import picture_file
from pyvision.types import Message, Model, Picture, Reply, Restart, Sampling, Usage
from sandbox import CellResult, Figure, HostFunction, Policy


@dataclass(frozen=True, slots=True)
class Fork:
    """What to do otherwise. turn: the first that is not as on record, counted from 1.

    code: for its cell, None to ask the model there. settings: of the strategy, over those on record. figures: what is
    seen in the place of a figure, by its name `image_clue_k`, whichever turn shows it. tools: who provides them, over
    those on record.
    """

    turn: int
    code: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Picture] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)


class Resumed:
    """A model that first gives recorded replies, which cost nothing again, and then is another one.

    replies: shared by the models of all roles, as the record has one order.
    """

    def __init__(self, replies: deque[Reply], then: Model) -> None:
        self._replies = replies
        self._then = then

    @property
    def name(self) -> str:
        return self._then.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The next recorded reply, else one of the other model."""
        return self._next() or self._then.complete(messages, sampling)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """Likewise; a recorded reply comes in one piece."""
        reply = self._next()
        if reply:
            yield reply
        else:
            yield from self._then.stream(messages, sampling)

    def _next(self) -> Reply | None:
        try:
            return replace(self._replies.popleft(), usage=Usage())
        except IndexError:
            return None


def fork_task(
    run: Run,
    fork: Fork,
    *,
    model: str | None = None,
    config: Path | None = None,
    roles: Mapping[str, str | Model] | None = None,
) -> Task:
    """The task that goes on from there, to be given to `solve` in the sandbox `with_figures`. Raises ConfigError.

    model, config, roles: as `prepare` takes them; they name who is asked once the recorded replies are used up.
    """
    began = run.began
    if began is None:
        raise ConfigError(f"{str(run.folder)!r}: the record has no beginning; there is nothing to go on from")
    task = prepare(
        run.question.text,
        [run.folder / picture_file(picture) for picture in run.question.images],
        strategy=began.strategy,
        model=model,
        config=config,
        roles=roles,
        tools={**read_tools(run, fork), **fork.tools},
        options={**options_of(run), **fork.settings},
        limits=limits_of(run),
        policy=policy_of(run),
    )
    replies = deque(read_replies(run, fork))
    return replace(task, models={role: Resumed(replies, then) for role, then in task.models.items()})


def read_tools(run: Run, fork: Fork) -> Mapping[str, str]:
    """Who provides tools as on record: those that the fork still has and says nothing about. Raises ConfigError."""
    strategy = STRATEGIES.get(run.began.strategy) if run.began else None
    if strategy is None:
        return {}
    known = with_options(strategy(), {**options_of(run), **fork.settings}).tools
    kept = {name: by for name, by in tools_of(run).items() if name in known and name not in fork.tools}
    refuse_networks(kept)
    return kept


def with_figures(run: Run, fork: Fork, sandbox: Sandbox) -> Sandbox:
    """The sandbox, in which the fork's own figures are seen. Raises ConfigError for a name that no figure has."""
    given = len(run.question.images)
    names = [event.name for event in run.events if isinstance(event, ImageDefined)]
    for name in fork.figures:
        if name not in names:
            known = ", ".join(names) or "none"
            raise ConfigError(f"--figure {name}: the run has no such figure; it has: {known}")
    instead = {int(name.rpartition("_")[2]) - given: picture for name, picture in fork.figures.items()}
    return OtherFigures(sandbox, instead) if instead else sandbox


def read_replies(run: Run, fork: Fork) -> tuple[Reply, ...]:
    """What is given again: the replies before the turn, and that of the turn with its code replaced."""
    asked = [turn.asked for turn in run.turns if turn.asked]
    if not 1 <= fork.turn <= len(asked):
        raise ConfigError(f"--from {fork.turn}: the run has the turns 1 to {len(asked)}")
    before = tuple(each.reply for each in asked[: fork.turn - 1])
    return before if fork.code is None else (*before, with_code(asked[fork.turn - 1], fork.code))


def with_code(asked: ModelCall, code: str) -> Reply:
    """The reply with its cell replaced. Raises ConfigError for code that would not be found in it again."""
    text = f"{thought(asked.reply.text)}\n<code>\n```python\n{code.strip(chr(10))}\n```\n"
    try:
        found = find_code(text)
    except FormatError as error:
        raise ConfigError(f"the edited cell cannot be run: {error}") from error
    if found is None or found.rstrip() != code.strip("\n").rstrip():
        raise ConfigError(
            "the edited cell is no valid Python, or holds a line of ``` of its own; mend the file"
        )
    return Reply(text, finish="stop")


# ---- Other figures in the place of those that cells show: for the model, and in the kernel under their names.


class OtherFigures:
    """A sandbox whose sessions show these pictures instead; the key is the number of the figure, from 0."""

    def __init__(self, sandbox: Sandbox, instead: Mapping[int, Picture]) -> None:
        self._sandbox = sandbox
        self._instead = instead

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Session:
        return _Showing(self._sandbox.open(images), self._instead)


class _Showing:
    def __init__(self, session: Session, instead: Mapping[int, Picture]) -> None:
        self._session = session
        self._instead = instead
        self._shown = 0

    def run(
        self, code: str, *, trace: bool = False, functions: Mapping[str, HostFunction] | None = None
    ) -> CellResult:
        result = self._session.run(code, trace=trace, functions=functions)
        outputs = tuple(self._other(each) if isinstance(each, Figure) else each for each in result.outputs)
        return replace(result, outputs=outputs)

    def define(self, images: Mapping[str, bytes]) -> None:
        self._session.define(images)

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()

    def _other(self, figure: Figure) -> Figure:
        picture = self._instead.get(self._shown)
        self._shown += 1
        if picture is None:
            return figure
        return Figure(picture.data, picture.mime, picture.width, picture.height)


# ---- What a recorded run was given, as values again.
# ----
# ---- Where cells run is not for a record to say, as somebody else may have written it: its limits are taken over, `isolation`
# ---- and `python` are not; nor is it for a record to say which network is fetched and loaded (`hf:NAME`). Settings of another
# ---- release that this one does not know are left aside.


_Settings = TypeVar("_Settings", Policy, Limits)
_NOT_FROM_A_RECORD = {"isolation", "python"}


def policy_of(run: Run) -> Policy:
    """The limits of its cells. Raises ConfigError."""
    return _settings(run, "policy", Policy)


def limits_of(run: Run) -> Limits:
    """Its budgets. Raises ConfigError."""
    return _settings(run, "limits", Limits)


def options_of(run: Run) -> dict[str, str]:
    """The options of its strategy, as `--set` takes them. Raises ConfigError."""
    return {key: str(value) for key, value in _object(run, "options").items() if value is not None}


def tools_of(run: Run) -> dict[str, str]:
    """Who provided its tools, as `--tool` takes it, where somebody had chosen that. No key stands in a record."""
    model = _object(run, "model")
    is_offline = "offline" in (model.get("wire"), model.get("name"))
    told = {name: str(provider) for name, provider in _object(run, "tools").items()}
    return read_choice(told, is_offline=is_offline)


def refuse_networks(tools: Mapping[str, str]) -> None:
    """Raises ConfigError for a network of the record's choice that does not lie on this machine."""
    for name, provider in tools.items():
        kind, _, where = provider.partition(":")
        if kind == "hf" and not Path(where).is_dir():
            told = f"--tool {name}={provider}"
            raise ConfigError(
                f"the record loads a network, {where!r}; say so too: {told}, or another provider"
            )


def _settings(run: Run, name: str, kind: type[_Settings]) -> _Settings:
    from pydantic import TypeAdapter

    known = {field.name for field in fields(kind)} - _NOT_FROM_A_RECORD
    values = {key: value for key, value in _object(run, name).items() if key in known}
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValueError as error:
        why = " ".join(str(error).split())[:200]
        raise ConfigError(f"{str(run.folder)!r}: config.json: {name}: {why}") from error


def _object(run: Run, name: str) -> dict[str, Any]:
    found = run.config.get(name) or {}
    if not isinstance(found, dict):
        raise ConfigError(f"{str(run.folder)!r}: config.json: {name} is {found!r:.80}; it must be an object")
    return found
