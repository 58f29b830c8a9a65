"""Go on from a turn of a recorded run with other code in its cell, or with another model, prompt or option.

The replies on record are given again, the one of the turn with its code replaced, and the strategy runs as ever: its
cells run, its figures get their names, its conversation grows. Where the record ends the model of the fork is asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyvision.agent.strategy import with_options
from pyvision.agent.episode import Sandbox
from pyvision.errors import ConfigError, FormatError
from pyvision.events import ModelCall, ImageDefined
from pyvision.runs.replay.figure_overrides import OtherFigures
from pyvision.runs.replay.settings import limits_of, options_of, policy_of, refuse_networks, tools_of
from pyvision.text.replies import find_code, thought
from pyvision.runs.report.run import Run
from pyvision.solve import STRATEGIES, Task, prepare
from pyvision.trajectory import picture_file
from pyvision.types import Message, Model, Picture, Reply, Restart, Sampling, Usage


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
