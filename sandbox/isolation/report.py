"""What stands between a cell and this machine, told one by one."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.runtime.engine import Engine


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the walls: whether it is there, and what is to be known about it."""

    name: str
    is_present: bool
    detail: str


def layers(engine: Engine) -> tuple[Layer, ...]:
    """Of a Sandbox that runs."""
    confinement, is_isolated = engine.confinement, engine.confinement.policy.isolation == "bwrap"
    return (
        Layer(
            "namespaces",
            is_isolated,
            _bubblewrap(confinement.bwrap) if is_isolated else "isolation='none' was asked for",
        ),
        Layer(
            "system calls",
            is_isolated,
            "an allow-list for every process in a container" if is_isolated else "all of them",
        ),
        Layer("user", is_isolated, f"uid {engine.uid} on this machine, without capabilities"),
        Layer(
            "limits",
            is_present=True,
            detail="address space, processes, descriptors, size of files of each process",
        ),
        Layer("cgroups", engine.has_groups, engine.groups_told),
    )


def _bubblewrap(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    return f"{said.strip()}: no network; own processes, users, mounts, IPC, host name ({os.uname().release})"
