"""Answer one question: prepare a task, run its strategy in an episode, report how it ended."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, cast
from urllib.parse import urlsplit

from pyvision.agent.budget import Limits
from pyvision.agent.episode import DEFAULT_ROLE, Episode
from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.agent.strategy import Strategy, with_options
from pyvision.agent.task import RunConfig, Task
from pyvision.config.environment import environment
from pyvision.errors import (
    ConfigError,
    ImageError,
    LimitReached,
    ModelError,
    PyVisionError,
    ToolError,
    suggest,
)
from pyvision.events import Event, RunEnded, RunStarted
from pyvision.images import read as pictures
from pyvision.models.cancellation import Cancellation
from pyvision.models.factory import ResolvedModel, resolve_model
from pyvision.tools.registry import ROWS, ToolNames, build_tools, check_presence, describe
from pyvision.trajectory import TrajectoryWriter
from pyvision.types import Answer, Model, Outcome, Picture, Question, Tool
from sandbox import Policy, Sandbox, SandboxError

if TYPE_CHECKING:
    from pyvision.config.prices import Price
    from pyvision.images.objects import ImageSource

Images: TypeAlias = "ImageSource | Iterable[ImageSource]"
"""One image or many: see `read_images`."""

_WEB = re.compile(r"https?://", re.IGNORECASE)


STRATEGIES: Mapping[str, str] = {  # MODULE.CLASS in pyvision.strategies, imported when it is chosen
    "code_loop": "code_loop.CodeLoop",
    "direct": "direct.Direct",
    "bdog": "bdog.Bdog",
    "avis": "avis.Avis",
    "vdebugger": "vdebugger.VDebugger",
}


class QuestionSettings(TypedDict, total=False):
    """The keyword arguments of `configure`, which say what each means."""

    strategy: str | Strategy
    model: str | Model | ResolvedModel | None
    config: str | Path | None
    roles: Mapping[str, str | Model] | None
    tools: Mapping[str, str | Tool] | None
    options: Mapping[str, object] | None
    limits: Limits | None
    policy: Policy | None
    prices: str | Path | None


def prepare(text: str, images: Images = (), **settings: Unpack[QuestionSettings]) -> Task:
    """Check a question and the settings of `configure`, and build a Task. Raises ConfigError or ImageError."""
    question, names = read_question(text, images)
    return configure(**settings).about(question, names)


def configure(  # noqa: PLR0913 - each is one thing that a person may choose
    *,
    strategy: str | Strategy = "code_loop",
    model: str | Model | ResolvedModel | None = None,
    config: str | Path | None = None,
    roles: Mapping[str, str | Model] | None = None,
    tools: Mapping[str, str | Tool] | None = None,
    options: Mapping[str, object] | None = None,
    limits: Limits | None = None,
    policy: Policy | None = None,
    prices: str | Path | None = None,
) -> Task:
    """Check the settings and build a Task without a question, for `Task.about`.

    Raises ConfigError: one line that names the fix; TypeError for a setting of another type.

    strategy: a name as `--strategy` takes it, or a Strategy object. model: a Model, resolved or not, which the caller
    closes, or a name as `--model` takes it; None lets the environment decide, and `offline` is the last resort.
    config: a configuration file instead of a name. roles: role of the strategy -> the model for it. tools: tool of
    the strategy -> its provider, as `--tool` takes it (`pyvision.tools.registry`), or a Tool object. options: the
    strategy's fields, as `--set` takes them or as values. prices: a price table (`pyvision.config.prices`);
    PYVISION_PRICES names one too.
    """
    _check_type(Mapping, roles=roles, tools=tools, options=options)
    _check_type(Limits, limits=limits)
    _check_type(Policy, policy=policy)
    chosen = find_strategy(strategy) if isinstance(strategy, str) else strategy
    chosen = _offering(with_options(chosen, options or {}), tools or {})
    resolved_models = _resolve_roles(chosen.roles, resolve_model(model, config), roles or {})
    is_offline = resolved_models[DEFAULT_ROLE].is_offline
    limits, policy = limits or Limits(), policy or Policy()
    run_config = RunConfig(
        strategy=strategy if isinstance(strategy, str) else type(strategy).__name__,
        options=asdict(cast("Any", chosen)),  # every strategy is a dataclass
        model=resolved_models[DEFAULT_ROLE].described,
        roles={
            role: resolved.described for role, resolved in resolved_models.items() if role != DEFAULT_ROLE
        },
        tools=describe(chosen.tools, tools or {}, is_offline=is_offline),
        limits=limits,
        policy=policy,
    )
    check_presence(tools or {})
    built = build_tools(chosen.tools, tools or {}, is_offline=is_offline)
    _check_needs(chosen, built)
    uses_offline = any(resolved.is_offline for resolved in resolved_models.values())
    return Task(
        Question(""),
        chosen,
        {role: resolved.model for role, resolved in resolved_models.items()},
        limits,
        offer_offline_modules(policy) if uses_offline else policy,
        run_config,
        secrets=_secrets(*resolved_models.values(), *built.values()),
        accepts={role: resolved.accepts for role, resolved in resolved_models.items()},
        tools=built,
        prices=_prices(
            [resolved.model.name for resolved in resolved_models.values()],
            prices or environment().get("PYVISION_PRICES"),
        ),
        resolved_models=tuple(resolved_models.values()),
    )


def find_strategy(name: str) -> Strategy:
    """The strategy of this name, with its default options. Raises ConfigError."""
    if name not in STRATEGIES:
        raise ConfigError(f"unknown strategy {name!r}; {suggest(name, STRATEGIES, 'known strategies are')}")
    module, _, kind = STRATEGIES[name].partition(".")
    made: Strategy = getattr(import_module(f"pyvision.strategies.{module}"), kind)()
    return made


def read_question(text: str, images: Images) -> tuple[Question, tuple[str, ...]]:
    """The question, and the names of its images for the record. Raises ConfigError or ImageError."""
    if not isinstance(text, str):
        raise TypeError(f"the question is {text!r:.80}; give a str")
    if not text.strip():
        raise ConfigError("the question is empty; give one with --question TEXT")
    read = read_images(images)
    return Question(text.strip(), tuple(picture for picture, _ in read)), tuple(name for _, name in read)


def _check_type(expected: type, **settings: object) -> None:
    for name, value in settings.items():
        if value is not None and not isinstance(value, expected):
            raise TypeError(f"{name} is {value!r:.80}; give a {expected.__name__}")


def read_images(
    images: Images, fetch: Callable[[str], bytes] | None = None
) -> tuple[tuple[Picture, str], ...]:
    """Each image with its name for the record: its path, its URL without the query, or its kind and number.

    images: one or many of: a path, an http(s) URL, the bytes of a file, an open file, a Picture, a PIL image, or an
    array (height × width, also with 1, 3 or 4 channels; NumPy, torch, …). fetch: gets the bytes of a URL, in place of
    `tools.web.fetch`. Raises ImageError.
    """
    is_text = isinstance(images, str | bytes | bytearray | memoryview)
    is_one = (
        is_text or not isinstance(images, Iterable) or hasattr(images, "shape") or hasattr(images, "read")
    )
    many = (images,) if is_one else images
    return tuple(
        _read_image(image, number, fetch) for number, image in enumerate(cast("Iterable[Any]", many))
    )


def _read_image(image: ImageSource, number: int, fetch: Callable[[str], bytes] | None) -> tuple[Picture, str]:
    match image:
        case Picture():
            return image, f"picture {number}"
        case str() if _WEB.match(image):
            return _fetch_image(image, fetch or _fetch)
        case str() | Path():
            return replace(pictures.read(image), file_name=Path(image).name), str(image)
        case _:
            from pyvision.images.objects import from_object

            name = f"{type(image).__name__} {number}"
            return from_object(image, name), name


def _fetch(url: str) -> bytes:
    from pyvision.tools.web.fetch import fetch_image

    return fetch_image(url)


def _fetch_image(url: str, fetch: Callable[[str], bytes]) -> tuple[Picture, str]:
    try:
        data = fetch(url)
    except ToolError as error:
        raise ImageError(f"image {error}") from None
    name = urlsplit(url)._replace(query="", fragment="").geturl()  # a query may contain a key
    return replace(pictures.decode(data, name), file_name=Path(urlsplit(name).path).name), name


def offer_offline_modules(policy: Policy) -> Policy:
    """The same policy for a sandbox in which cells of the offline model can run: they import a package of PyVision."""
    from pyvision.offline.plans import MODULES

    return policy if MODULES in policy.modules else replace(policy, modules=(*policy.modules, MODULES))


def solve(
    task: Task,
    watch: Callable[[Event], None],
    sandbox: AnySandbox | None = None,
    *,
    cancellation: Cancellation | None = None,
) -> Outcome:
    """Answer the task; every event goes to `watch` as it happens, `RunEnded` last.

    cancellation: lets another thread end the run; then the outcome is `interrupted`.

    Failures of the model, the guest or the endpoint become the Outcome. A bug, or a failing `watch`, raises. A
    `sandbox` that is given provides the kernel and stays open; without one, a private sandbox is opened and closed.
    The task's models stay open too.
    """
    if sandbox is None:
        with Sandbox(task.policy) as own:
            return solve(task, watch, own, cancellation=cancellation)
    return _drive(task, watch, sandbox, cancellation or Cancellation())


@contextmanager
def open_recorder(task: Task, out: str | Path | None) -> Iterator[Callable[[Event], None]]:
    """A function that records events in the folder `out`; without a folder it does nothing."""
    if out is None:
        yield lambda event: None
        return
    with TrajectoryWriter(Path(out), task.config.to_dict(), secrets=task.secrets) as trajectory:
        yield trajectory.write


def _offering(strategy: Strategy, tools: Mapping[str, object]) -> Strategy:
    """The strategy; if its cells can call tools and none is named, it offers those whose provider was chosen."""
    own = getattr(strategy, "tools", None)
    if not tools or own or not isinstance(own, ToolNames):
        return strategy
    offered = (name for name, tool in tools.items() if name in ROWS or not isinstance(tool, str))
    return with_options(strategy, {"tools": ",".join(offered)})


def _resolve_roles(
    known: Sequence[str], default: ResolvedModel, roles: Mapping[str, str | Model]
) -> Mapping[str, ResolvedModel]:
    """role -> model. Raises ConfigError for a role that the strategy does not have."""
    for role in roles:
        if role not in known:
            hint = suggest(role, known, "the roles of this strategy are")
            raise ConfigError(f"unknown role {role!r}; {hint}")
    return {DEFAULT_ROLE: default} | {role: resolve_model(model) for role, model in roles.items()}


def _check_needs(strategy: Strategy, tools: Mapping[str, Tool]) -> None:
    for name in strategy.needs:
        if name not in tools:
            way = f"choose one: --tool {name}=PROVIDER, or leave it out of the option tools"
            raise ConfigError(f"no provider is set for the tool {name!r}; {way}")


def _secrets(*holders: ResolvedModel | Tool) -> tuple[str, ...]:
    """The keys of models and of tools that have any."""
    return tuple(dict.fromkeys(key for holder in holders for key in getattr(holder, "secrets", ())))


def _prices(models: Sequence[str], file: str | Path | None) -> Mapping[str, Price]:
    if not file:
        return {}
    from pyvision.config.prices import load_prices, prices_of

    return prices_of(models, load_prices(Path(file)))


def _drive(
    task: Task, watch: Callable[[Event], None], sandbox: AnySandbox, cancellation: Cancellation
) -> Outcome:
    episode = Episode(
        task.question,
        task.models,
        task.limits,
        sandbox,
        watch,
        accepts=task.accepts,
        prices=task.prices,
        tools=task.tools,
        cancellation=cancellation,
    )
    watch(RunStarted(task.question, task.strategy_name, {role: m.name for role, m in task.models.items()}))
    with closing(episode):
        try:
            outcome = _outcome(task.strategy.solve(task.question, episode))
        except LimitReached as limit:
            is_stopped = limit.end_reason == "interrupted"
            outcome = Outcome(None, limit.end_reason, episode.interruption if is_stopped else str(limit))
        except ModelError as error:
            outcome = Outcome(None, "model_error", str(error))
        except SandboxError as error:
            outcome = Outcome(
                None, "interrupted" if cancellation.is_cancelled else "sandbox_error", str(error)
            )
        except KeyboardInterrupt:
            watch(_end_event(Outcome(None, "interrupted", episode.interruption), episode))
            raise
        except PyVisionError as error:  # for the caller to fix: a prompt file, a full disk
            watch(_end_event(Outcome(None, "error", str(error)), episode))
            raise
        except Exception:  # a bug is recorded with the run that it ended, then raised
            watch(_end_event(Outcome(None, "error", traceback.format_exc()), episode))
            raise
        ended = _end_event(outcome, episode)
        watch(ended)
    return ended.outcome


def _outcome(answer: Answer) -> Outcome:
    return Outcome(answer.text, answer.end_reason, answer.remark, answer.is_last_resort, answer.evidence)


def _end_event(outcome: Outcome, episode: Episode) -> RunEnded:
    outcome = replace(outcome, findings=episode.findings)
    return RunEnded(outcome, episode.usage, episode.turns, episode.cells, episode.seconds, episode.cost)
