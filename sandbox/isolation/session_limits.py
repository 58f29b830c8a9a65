"""Choose what limits a session as a whole on this machine: a cgroup, or a watchdog, or nothing if that was accepted."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sandbox.errors import IsolationError
from sandbox.isolation.cgroup import Cgroups, find_cgroups, limit_of_own_group
from sandbox.isolation.memory import Watchdog
from sandbox.policy import MIB, Policy

_SHARE = 0.8  # of the machine's memory, for all sessions of a Sandbox


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What is in force. no_cgroups: why there are none."""

    max_memory_bytes: int
    groups: Cgroups | None = None
    watchdog: Watchdog | None = None
    no_cgroups: str = ""

    @property
    def memory(self) -> str:
        """What limits the memory of a session, in one line."""
        if self.groups is not None:
            return f"cgroup, version {self.groups.version}"
        if self.watchdog is not None:
            return f"a watchdog measures each session, and ends one that is too large (cgroups: {self.no_cgroups})"
        return (
            f"none: RLIMIT_AS limits each process alone; children multiply it, and files in memory do not count "
            f"(cgroups: {self.no_cgroups})"
        )

    @property
    def all_memory(self) -> str:
        """What limits the memory of all sessions together, in one line."""
        if self.groups is None and self.watchdog is None:
            return "none"
        return f"{self.max_memory_bytes // MIB:,} MiB, by the same"

    @property
    def limits_memory(self) -> bool:
        return self.groups is not None or self.watchdog is not None

    @property
    def limits_processors(self) -> bool:
        return self.groups is not None and "cpu" in self.groups.controllers

    def close(self) -> None:
        """Remove the groups, stop the watchdog. Twice is once."""
        if self.groups is not None:
            self.groups.close()
        if self.watchdog is not None:
            self.watchdog.close()


def find_session_limits(policy: Policy, max_memory_bytes: int | None = None) -> SessionLimits:
    """What this machine offers. Raises IsolationError where the Policy requires what it does not."""
    total = max_memory_by_default() if max_memory_bytes is None else max_memory_bytes
    groups, told = None, "not asked for"
    if policy.session_memory != "watchdog":
        groups, told = find_cgroups(total)
    if groups is not None:
        return SessionLimits(total, groups)
    if policy.session_memory == "per_process" or policy.isolation == "none":  # no container to be measured
        return SessionLimits(total, no_cgroups=told)
    try:
        watchdog = Watchdog(policy.memory_bytes, total)
    except IsolationError as error:
        raise IsolationError(
            f"the memory of a session cannot be limited: {error}; cgroups: {told}; "
            "Policy(session_memory='per_process') accepts that only each process is limited"
        ) from error
    return SessionLimits(total, watchdog=watchdog, no_cgroups=told)


def max_memory_by_default() -> int:
    """Four fifths of what this machine has, or of what the cgroup of this process leaves to it, if that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(min(machine, limit_of_own_group() or machine) * _SHARE)
