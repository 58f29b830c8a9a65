"""The settings of a run, as its folder and the fingerprint of an experiment record them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pyvision.agent.budget import Limits
from sandbox import Policy


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


def _describe_policy(policy: Policy) -> dict[str, Any]:
    """Its fields; `modules` only if there are any, so that experiments of earlier versions can be resumed."""
    return {name: value for name, value in asdict(policy).items() if name != "modules" or value}
