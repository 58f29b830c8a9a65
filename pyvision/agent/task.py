"""A task: what is needed to answer one question, with its settings as the folder of a run records them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyvision.agent.budget import Limits
from pyvision.agent.strategy import Strategy
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import ConfigError
from pyvision.types import Closing, Model, Question, Tool
from sandbox import Policy

if TYPE_CHECKING:
    from pyvision.config.prices import Price
    from pyvision.models.factory import ResolvedModel


@dataclass(frozen=True, slots=True)
class RunConfig:
    """All settings of one run, without secrets.

    strategy: its name. options: its fields. model: of all roles but `roles`. roles: role -> its own model.
    tools: tool -> PROVIDER[:WHERE]. images: the files of the question.
    """

    strategy: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    images: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The content of config.json."""
        return {**self.common_settings(), "images": list(self.images)}

    def common_settings(self) -> dict[str, Any]:
        """The settings without the images: what all questions of an experiment have in common."""
        return {
            "strategy": self.strategy,
            "options": dict(self.options),
            "model": dict(self.model),
            "roles": {role: dict(model) for role, model in self.roles.items()},
            "tools": dict(self.tools),
            "limits": asdict(self.limits),
            "policy": _describe_policy(self.policy),
        }


@dataclass(frozen=True, slots=True)
class Task(Closing):
    """Everything that is needed to answer one question, checked and built.

    The caller that prepares a task closes it, or uses it in a `with`.
    resolved_models: `close` closes those that were built for this task. prices: model name -> price; with a limit on
    the cost, every model has one.
    """

    question: Question
    strategy: Strategy
    models: Mapping[str, Model]  # role -> model; `default` plays every role that is not named
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    config: RunConfig = field(default_factory=RunConfig)
    secrets: tuple[str, ...] = field(default=(), repr=False)  # what no file of the run may hold
    accepts: Mapping[str, EndpointLimits] = field(default_factory=dict)  # role -> what its endpoint takes
    tools: Mapping[str, Tool] = field(default_factory=dict)  # those of the strategy, by name
    prices: Mapping[str, Price] = field(default_factory=dict)
    resolved_models: tuple[ResolvedModel, ...] = ()

    def __post_init__(self) -> None:
        without = [model.name for model in self.models.values() if model.name not in self.prices]
        if self.limits.max_cost is not None and without:
            way = "give a table that has one: --prices FILE, or PYVISION_PRICES"
            raise ConfigError(f"a limit on the cost needs the price of {without[0]!r}; {way}")

    @property
    def strategy_name(self) -> str:
        return self.config.strategy or type(self.strategy).__name__

    def about(self, question: Question, images: Sequence[str] = ()) -> Task:
        """The same task for another question, with the same models; only one of the two has to be closed.

        images: the names of the new question's images for the record.
        """
        return replace(self, question=question, config=replace(self.config, images=tuple(images)))

    def close(self) -> None:
        """Close the models that were built for it."""
        for resolved in self.resolved_models:
            resolved.close()


def _describe_policy(policy: Policy) -> dict[str, Any]:
    """Its fields; `modules` only if there are any, so that experiments of earlier versions can be resumed."""
    return {name: value for name, value in asdict(policy).items() if name != "modules" or value}
