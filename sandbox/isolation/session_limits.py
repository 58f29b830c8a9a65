"""Choose what limits a session as a whole here: a cgroup, a watchdog, or nothing if the Policy accepts it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.errors import IsolationError
from sandbox.isolation.cgroup import Cgroups, find_cgroups, limit_of_own_group
from sandbox.policy import MIB, Policy

if TYPE_CHECKING:
    from sandbox.isolation.watchdog import Watchdog

_MEMORY_SHARE = 0.8  # of the machine's memory, for all sessions of a Sandbox


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """The limits in force. no_cgroups: why there are no cgroups."""

    max_memory_bytes: int
    groups: Cgroups | None = None
    watchdog: Watchdog | None = None
    no_cgroups: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether only the watchdog limits memory, so that all memory has to belong to a process."""
        return self.watchdog is not None and self.groups is None

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
        return f"{self.max_memory_bytes // MIB:,} MiB, by the same means"

    @property
    def limits_memory(self) -> bool:
        return self.groups is not None or self.watchdog is not None

    @property
    def limits_processors(self) -> bool:
        return self.groups is not None and "cpu" in self.groups.controllers

    def close(self) -> None:
        """Remove the groups and stop the watchdog. May be called twice."""
        if self.groups is not None:
            self.groups.close()
        if self.watchdog is not None:
            self.watchdog.close()


def find_session_limits(policy: Policy, max_memory_bytes: int | None = None) -> SessionLimits:
    """Find what this machine offers. Raises IsolationError if the Policy requires more."""
    total = default_max_memory() if max_memory_bytes is None else max_memory_bytes
    groups, reason = None, "not asked for"
    if policy.session_memory != "watchdog":
        groups, reason = find_cgroups(total)
    if groups is not None and policy.isolation != "landlock":
        return SessionLimits(total, groups)
    accepts_none = policy.session_memory == "per_process" and policy.isolation != "landlock"
    if policy.isolation == "none" or accepts_none:  # without isolation there is nothing to be measured
        return SessionLimits(total, no_cgroups=reason)
    try:
        watchdog = _start_watchdog(policy, total)
    except IsolationError as error:
        raise IsolationError(
            f"the memory of a session cannot be limited: {error}; cgroups: {reason}; "
            "Policy(session_memory='per_process') accepts a limit per process only"
        ) from error
    return SessionLimits(total, groups, watchdog, reason)


def _start_watchdog(policy: Policy, max_memory_bytes: int) -> Watchdog:
    from sandbox.isolation.watchdog import Watchdog, watch_container

    if policy.isolation != "landlock":
        return Watchdog(policy.memory_bytes, max_memory_bytes, watch_container)
    # without a container its files and processes have to be measured too, also where there are cgroups
    from sandbox.isolation.process_tree import watch_tree

    return Watchdog(policy.memory_bytes, max_memory_bytes, watch_tree(policy))


def default_max_memory() -> int:
    """Four fifths of the machine's memory, or of the limit of this process's cgroup if that is lower."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(min(machine, limit_of_own_group() or machine) * _MEMORY_SHARE)
