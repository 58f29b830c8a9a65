"""The isolation report: what isolates a cell from this machine, one line for each mechanism."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.isolation.bubblewrap import limits
from sandbox.policy import MIB, Policy

if TYPE_CHECKING:
    from sandbox.isolation.session_limits import SessionLimits
    from sandbox.runtime.engine import Engine

_ABI_SCOPE = 6


@dataclass(frozen=True, slots=True)
class Layer:
    """One mechanism: whether it is in force, with details."""

    name: str
    is_present: bool
    detail: str


def layers(engine: Engine) -> tuple[Layer, ...]:
    """The isolation report of a running Sandbox."""
    policy = engine.confinement.policy
    is_isolated = policy.isolation == "bwrap"
    return (
        Layer(
            "namespaces",
            is_isolated,
            _namespaces(engine.confinement.bwrap) if is_isolated else "isolation='none' was asked for",
        ),
        Layer("landlock", is_isolated and engine.landlock_abi > 0, _landlock(engine.landlock_abi)),
        Layer("system calls", is_isolated, _filter(engine) if is_isolated else "all of them"),
        Layer(
            "user",
            is_isolated,
            f"uid {engine.uid} on this machine" + (", without capabilities" if is_isolated else ""),
        ),
        Layer("each process", is_present=True, detail=_each_process(policy)),
        *_session_layers(policy, engine.limits),
    )


def _landlock(abi: int) -> str:
    if not abi:
        return (
            "no domain: a guest can rewrite the process that holds its container, which has the same limits"
        )
    text = f"ABI {abi}: a guest cannot trace the process that holds its container"
    return f"{text}, or signal it" if abi >= _ABI_SCOPE else text


def _session_layers(policy: Policy, found: SessionLimits) -> tuple[Layer, ...]:
    size = f"{policy.memory_bytes // MIB:,} MiB: {found.memory}" if found.limits_memory else found.memory
    return (
        Layer("session memory", found.limits_memory, size),
        Layer("total memory", found.limits_memory, found.all_memory),
        Layer("processors", found.limits_processors and policy.cpus is not None, _processors(policy, found)),
    )


def _processors(policy: Policy, found: SessionLimits) -> str:
    if not found.limits_processors:
        return "no limit but the time of a cell: there is no cgroup with the cpu controller"
    return "no limit: Policy.cpus is None" if policy.cpus is None else f"{policy.cpus:g} of {os.cpu_count()}"


def _each_process(policy: Policy) -> str:
    values = {name: f"{value:,}" for name, value in limits(policy).items()}
    values["RLIMIT_AS"] += " beside what a new kernel maps"
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _filter(engine: Engine) -> str:
    text = "seccomp, an allow-list for every process in a container"
    return f"{text}; without memory that no process maps" if engine.limits.watchdog is not None else text


def _namespaces(program: str) -> str:
    version = subprocess.run(
        [program, "--version"], capture_output=True, text=True, env={}, check=False
    ).stdout
    kinds = "CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP"
    return f"{version.strip()}: {kinds} (Linux {os.uname().release})"
