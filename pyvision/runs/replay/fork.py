"""Resume a recorded run at one of its turns, with other code in its cell or another model, prompt or option.

The recorded replies are replayed up to that turn, whose code may be replaced, and the strategy runs as usual: cells
run, figures get their names, the conversation grows. After that, the model of the fork is asked.

A recording may come from someone else. Its limits are used, but it does not decide where cells run (`isolation`,
`at_least`, `wrap`, `python` and `modules` are ignored) nor which network is downloaded and loaded (`hf:NAME`). Settings
that this release does not know are ignored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Sandbox, Session
from pyvision.agent.question_kernel import SandboxProxy, SessionProxy
from pyvision.agent.strategy import with_options
from pyvision.agent.task import Task
from pyvision.errors import ConfigError, FormatError
from pyvision.events import ImageDefined, ModelCall
from pyvision.runs.run import Run
from pyvision.solve import STRATEGIES, find_strategy, prepare
from pyvision.text.replies import find_code, find_thought
from pyvision.tools.registry import read_choice
from pyvision.trajectory import picture_file
from pyvision.types import Message, Model, Picture, Reply, Restart, Sampling, Usage
from sandbox import CellResult, Figure, Policy

_Settings = TypeVar("_Settings", Policy, Limits)
_IGNORED_SETTINGS = {"isolation", "at_least", "wrap", "python", "modules"}
_BEFORE_THE_OPTION = {
    "avis": {"saves_calls": "False"},
    "vdebugger": {"critic_on_error": "True", "one_reply": "False"},
}


@dataclass(frozen=True, slots=True)
class Fork:
    """What to change. turn: the first turn that differs from the recording, counted from 1.

    code: for the cell of that turn; None asks the model instead. settings: options of the strategy. figures: images
    that replace figures, by name (`image_clue_k`), in any turn. tools: providers of tools. Settings and tools override
    the recorded ones.
    """

    turn: int
    code: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Picture] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)


def fork_task(
    run: Run,
    fork: Fork,
    *,
    model: str | None = None,
    config: Path | None = None,
    roles: Mapping[str, str | Model] | None = None,
) -> Task:
    """The task that resumes the run; call `solve` with it and the sandbox of `with_figures`. Raises ConfigError.

    model, config, roles: as in `prepare`; the models to ask after the recorded replies.
    """
    task = prepare_task(run, fork, model=model, config=config, roles=roles)
    replies = deque(read_replies(run, fork))
    return replace(task, models={role: Resumed(replies, then) for role, then in task.models.items()})


def prepare_task(
    run: Run,
    fork: Fork,
    *,
    model: str | Model | None = None,
    config: Path | None = None,
    roles: Mapping[str, str | Model] | None = None,
) -> Task:
    """The task of the run, with the settings and tools of the fork, to be answered from its start."""
    began = run.began
    if began is None:
        raise ConfigError(
            f"{str(run.folder)!r}: the start of the run was not recorded; it cannot be asked again"
        )
    task = prepare(
        run.question.text,
        [run.folder / picture_file(picture) for picture in run.question.images],
        strategy=began.strategy,
        model=model,
        config=config,
        roles=roles,
        tools={**read_tools(run, fork), **fork.tools},
        options={**options_of(run), **_protocol_of(run), **fork.settings},
        limits=limits_of(run),
        policy=policy_of(run),
    )
    question = replace(task.question, images=run.question.images)  # with the names of their files
    return replace(task, question=question)


def with_figures(run: Run, fork: Fork, sandbox: Sandbox) -> Sandbox:
    """The sandbox with the fork's figures in place of the cells' own. Raises ConfigError for an unknown figure name."""
    given = len(run.question.images)
    names = [event.name for event in run.events if isinstance(event, ImageDefined)]
    for name in fork.figures:
        if name not in names:
            known = ", ".join(names) or "none"
            raise ConfigError(f"--figure {name}: no such figure in this run; its figures are {known}")
    overrides = {int(name.rpartition("_")[2]) - given: picture for name, picture in fork.figures.items()}
    return FigureOverrides(sandbox, overrides) if overrides else sandbox


def read_replies(run: Run, fork: Fork) -> tuple[Reply, ...]:
    """The replies to replay: those before the turn, to tools too, and that of the turn if its code is replaced."""
    calls = [event for event in run.events if isinstance(event, ModelCall)]
    turns = [at for at, call in enumerate(calls) if not call.for_tool]
    if not 1 <= fork.turn <= len(turns):
        raise ConfigError(f"--from {fork.turn}: the run has turns 1 to {len(turns)}")
    at = turns[fork.turn - 1]
    before = tuple(call.reply for call in calls[:at])
    return before if fork.code is None else (*before, replace_code(calls[at], fork.code))


def read_tools(run: Run, fork: Fork) -> Mapping[str, str]:
    """The recorded providers of the tools that the fork uses and does not override. Raises ConfigError."""
    if run.began is None or run.began.strategy not in STRATEGIES:
        return {}
    known = with_options(find_strategy(run.began.strategy), {**options_of(run), **fork.settings}).tools
    providers = {name: by for name, by in tools_of(run).items() if name in known and name not in fork.tools}
    _refuse_networks(providers)
    return providers


def policy_of(run: Run) -> Policy:
    """The sandbox policy of the run. Raises ConfigError."""
    return _settings(run, "policy", Policy)


class Resumed:
    """A model that first replays recorded replies, at no cost, and then asks another model.

    replies: shared by the models of all roles, since the recording has a single order.
    """

    def __init__(self, replies: deque[Reply], then: Model) -> None:
        self._replies = replies
        self._then = then

    @property
    def name(self) -> str:
        return self._then.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The next recorded reply, or a reply of the other model."""
        return self._next() or self._then.complete(messages, sampling)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """Like `complete`; a recorded reply comes in one piece."""
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


class FigureOverrides(SandboxProxy):
    """A sandbox whose sessions show these images in place of figures; the key is the number of the figure, from 0."""

    def __init__(self, sandbox: Sandbox, overrides: Mapping[int, Picture]) -> None:
        super().__init__(sandbox)
        self._overrides = overrides

    def wrap(self, session: Session) -> Session:
        return _OverridingSession(session, self._overrides)


class _OverridingSession(SessionProxy):
    def __init__(self, session: Session, overrides: Mapping[int, Picture]) -> None:
        super().__init__(session)
        self._overrides = overrides
        self._count = 0

    def change(self, result: CellResult) -> CellResult:
        outputs = tuple(self._override(each) if isinstance(each, Figure) else each for each in result.outputs)
        return replace(result, outputs=outputs)

    def _override(self, figure: Figure) -> Figure:
        picture = self._overrides.get(self._count)
        self._count += 1
        if picture is None:
            return figure
        return Figure(picture.data, picture.mime, picture.width, picture.height)


def replace_code(asked: ModelCall, code: str) -> Reply:
    """The reply with its cell replaced. Raises ConfigError for code that cannot be put into a reply."""
    text = f"{find_thought(asked.reply.text)}\n<code>\n```python\n{code.strip(chr(10))}\n```\n"
    try:
        found = find_code(text)
    except FormatError as error:
        raise ConfigError(f"the edited cell cannot be run: {error}") from error
    if found is None or found.rstrip() != code.strip("\n").rstrip():
        raise ConfigError("the edited cell is not valid Python or contains a line ```; fix the file")
    return Reply(text, finish="stop")


def limits_of(run: Run) -> Limits:
    """The limits of the run. Raises ConfigError."""
    return _settings(run, "limits", Limits)


def options_of(run: Run) -> dict[str, str]:
    """The options of the strategy, as `--set` takes them. Raises ConfigError.

    An option that did not exist when the run was recorded is what the run did without it.
    """
    recorded = {key: str(value) for key, value in _object(run, "options").items() if value is not None}
    before = _BEFORE_THE_OPTION.get(run.began.strategy, {}) if run.began else {}
    return {**before, **recorded}


def _protocol_of(run: Run) -> dict[str, str]:
    """The protocol in which a run of code_loop began, since its replies are in it, whatever its model prefers."""
    calls = [event for event in run.events if isinstance(event, ModelCall)]
    if run.began is None or run.began.strategy != "code_loop" or options_of(run).get("prompt_file"):
        return {}
    return {"protocol": "tools" if any(call.tools for call in calls) else "text"}


def tools_of(run: Run) -> dict[str, str]:
    """The chosen providers of tools, as `--tool` takes them. A recording contains no API keys."""
    model = _object(run, "model")
    is_offline = "offline" in (model.get("wire"), model.get("name"))
    chosen = {name: str(provider) for name, provider in _object(run, "tools").items()}
    return read_choice(chosen, is_offline=is_offline)


def _refuse_networks(tools: Mapping[str, str]) -> None:
    """Raises ConfigError for a recorded network that is not on this machine."""
    for name, provider in tools.items():
        kind, _, where = provider.partition(":")
        if kind == "hf" and not Path(where).is_dir():
            raise ConfigError(
                f"the run used the network {where!r}; pass --tool {name}={provider} to allow it, or another provider"
            )


def _settings(run: Run, name: str, kind: type[_Settings]) -> _Settings:
    from pydantic import TypeAdapter

    known = {field.name for field in fields(kind)} - _IGNORED_SETTINGS
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
