"""The isolation report: what isolates a cell from this machine, one line for each mechanism."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from sandbox.isolation.bubblewrap import Bubblewrap
from sandbox.isolation.confinement import Confinement, limits
from sandbox.isolation.landlock import Landlock
from sandbox.policy import MIB, Layer, Policy, Tier

if TYPE_CHECKING:
    from sandbox.isolation.session_limits import SessionLimits
    from sandbox.runtime.engine import Engine

_ABI_TCP, _ABI_SCOPE = 4, 6


def layers(engine: Engine) -> tuple[Layer, ...]:
    """The isolation report of a running Sandbox: its tier, then each mechanism."""
    policy, tier = engine.confinement.policy, engine.confinement.tier
    is_isolated = tier != "none"
    abi = engine.landlock_abi if is_isolated else 0
    return (
        Layer("tier", is_isolated, _tier(engine.confinement)),
        Layer("namespaces", tier == "bwrap", _namespaces(engine.confinement)),
        Layer("landlock", abi > 0, _landlock(tier, abi)),
        Layer("system calls", is_isolated, _filter(engine) if is_isolated else "all of them"),
        Layer("user", is_isolated, f"uid {engine.uid} on this machine{_capabilities(engine.confinement)}"),
        Layer("each process", is_present=True, detail=_each_process(policy)),
        *_session_layers(policy, engine.limits),
    )


def _tier(confinement: Confinement) -> str:
    """Its name, what it does not cover, and why no stronger one is used."""
    text = {
        "bwrap": "bwrap: files, network, processes, keys and other sessions are out of reach",
        "landlock": "landlock: files, network, keys, signals and other sessions are out of reach; not covered: the "
        "names and sizes of files whose path is known, the existence of processes; disk space and the number of "
        "processes are measured, not limited at once",
        "none": "none: isolation='none' was asked for",
    }[confinement.tier]
    if confinement.policy.wrap:
        text += f"; inside of an external sandbox: {' '.join(confinement.policy.wrap)}"
    return f"{text} ({confinement.instead_of})" if confinement.instead_of else text


def _capabilities(confinement: Confinement) -> str:
    if confinement.tier == "none":
        return ""
    if isinstance(confinement, Landlock) and confinement.keeps_reading:
        return ", with CAP_DAC_READ_SEARCH: the interpreter is in a folder that only root can read"
    return ", without capabilities"


def _landlock(tier: Tier, abi: int) -> str:
    if tier == "none":
        return "no domain"
    if not abi:
        return (
            "no domain: a guest can rewrite the process that holds its container, which has the same limits"
        )
    if tier == "landlock":
        parts = ["files", "memory of other processes", *(["TCP"] if abi >= _ABI_TCP else [])]
        return f"ABI {abi}: {', '.join([*parts, *(['signals'] if abi >= _ABI_SCOPE else [])])}"
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
    if policy.isolation == "landlock":
        values["RLIMIT_NPROC"] += " beside all tasks of the machine"
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _filter(engine: Engine) -> str:
    text = "seccomp, an allow-list for every process of a session"
    return f"{text}; no memory outside of process mappings" if engine.limits.is_measured else text


def _namespaces(confinement: Confinement) -> str:
    if not isinstance(confinement, Bubblewrap):
        return "those of this machine"
    version = subprocess.run(
        [confinement.bwrap, "--version"], capture_output=True, text=True, env={}, check=False
    ).stdout
    kinds = "CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP"
    return f"{version.strip()}: {kinds} (Linux {os.uname().release})"
