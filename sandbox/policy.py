"""What a session may use: the limits that the confinement and the session enforce, and their names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

MIB = 2**20
Tier: TypeAlias = Literal["none", "landlock", "bwrap"]
"""What isolates cells, the weakest first."""
TIERS: tuple[Tier, ...] = get_args(Tier)
Exhausted: TypeAlias = Literal["session", "sandbox", "machine", "disk", "processes", "handles"]
"""What ran out: the memory of one session, of all sessions together, or of the machine; in the landlock tier also the
disk space, the processes, or the open files and memory mappings of one session."""
KERNEL_BYTES = 64 * MIB
"""For the kernel itself: without it a session would be ended before a cell gets a MemoryError."""

_ABOVE_ZERO = ("cell_timeout_s", "start_timeout_s")
_LEAST = {  # what a kernel uses before its first cell, rounded up
    "memory_bytes": 32 * MIB,
    "processes": 8,
    "open_files": 48,
    "disk_bytes": 65_536,
    "disk_files": 16,
}

HostFunction: TypeAlias = Callable[..., Any]
"""What a cell may call as `host.NAME(…)`: it runs on the host, with all rights of the host."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One mechanism of isolation: whether it is in force, with details."""

    name: str
    is_present: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of every session of one Sandbox, in bytes and seconds.

    isolation: `bwrap` builds a container of namespaces with bubblewrap. `landlock` needs no namespaces: a Landlock
    domain and a stricter seccomp filter. `none` runs cells with all rights of the caller, and warns. `auto` takes the
    strongest of them that works on this machine, and raises IsolationError rather than go below `at_least`.
    at_least: the weakest that `auto` may take.
    wrap: a command that runs another one in a sandbox of your own, around all kernels, for example
    `("firejail", "--quiet", "--noprofile")`. The rest of its command line is appended. It has to keep open descriptors,
    and the descriptors that go over them, which gVisor's runsc does not: there, run the whole program inside.
    With `isolation="none"` it is all the isolation that there is.
    python: another interpreter for the cells, with ipykernel, matplotlib, numpy and pillow in its environment.
    preload: modules to import once for all sessions, so that importing them in a cell takes no time.
    modules: folders of Python modules that cells may import. They are mounted read-only, and searched last.
    seed: of random, of numpy's global generator and of hashes, in 0 … 2**32 - 1: every kernel draws the same numbers
    and iterates over its sets in the same order. None: unpredictable. `numpy.random.default_rng()` without a seed
    is unpredictable in any case.
    session_memory: what limits the memory of a session as a whole. `required`: a cgroup, or where none can be made a
    watchdog on the host; where neither works, IsolationError. `watchdog`: always the watchdog. `per_process`: a cgroup,
    or nothing: the caller accepts that each process of a session may use `memory_bytes`, and that memory which
    belongs to no process is not limited.
    """

    isolation: Literal["auto", "bwrap", "landlock", "none"] = "auto"
    at_least: Tier = "landlock"
    wrap: tuple[str, ...] = ()
    python: str | None = None
    preload: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    seed: int | None = 0
    cell_timeout_s: float = 30.0
    interrupt_grace_s: float = 1.5  # between the interrupt and the kill
    start_timeout_s: float = 60.0
    memory_bytes: int = 2048 * MIB  # of each process, and of a session as a whole (see session_memory)
    processes: int = 128  # processes and threads of a session
    cpus: float | None = None  # processors that a session may keep busy, where there are cgroups
    open_files: int = 512  # descriptors of each process, at most as many as the host allows
    file_bytes: int = 256 * MIB  # largest file a cell may write
    disk_bytes: int = 512 * MIB  # /tmp and the working directory together
    disk_files: int = 100_000  # in the same places; each costs 1 KiB of kernel memory, even if it is empty
    output_chars: int = 1_000_000  # text kept per cell
    output_bytes: int = 64 * MIB  # received per cell, as messages; the rest is not even received
    messages: int = 20_000  # received per cell
    figures: int = 32  # figures kept per cell
    figure_pixels: int = 16_000_000
    figure_bytes: int = 16 * MIB
    trace_events: int = 2_000  # kept per traced cell, from its beginning and its end, as trace_chars
    trace_chars: int = 200_000
    trace_value_chars: int = 1_000  # of one variable
    trace_steps: int = (
        50_000  # events after which the rest of a cell runs untraced; tracing so many takes a second or more
    )
    host_calls: int = 1_000  # of host functions, by one cell
    host_bytes: int = 256 * MIB  # to and from host functions, by one cell
    host_call_timeout_s: float = 120.0
    session_memory: Literal["required", "watchdog", "per_process"] = "required"

    def __post_init__(self) -> None:
        if self.isolation == "room":  # type: ignore[comparison-overlap]  # its name in version 0.1
            warnings.warn('Policy(isolation="room") is now "bwrap"', DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "isolation", "bwrap")
        for name, allowed in (("isolation", ("auto", *TIERS)), ("at_least", TIERS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"Policy.{name}: {getattr(self, name)!r} is not one of {', '.join(allowed)}")
        for name in ("wrap", "preload", "modules"):
            _check_texts(name, getattr(self, name))
        if self.seed is not None and not 0 <= self.seed < 2**32:
            raise ValueError(f"Policy.seed: {self.seed!r} is out of range; give 0 to 2**32 - 1, or None")
        if self.cpus is not None and not self.cpus > 0:
            raise ValueError(f"Policy.cpus: {self.cpus!r} is out of range; give a number above 0, or None")
        for field in fields(self):
            if isinstance(field.default, int | float) and field.name != "seed":
                _check_limit(field.name, getattr(self, field.name), type(field.default))


def _check_texts(name: str, value: object) -> None:
    if not isinstance(value, tuple | list) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"Policy.{name}: {value!r} is not a tuple of texts")


def _check_limit(name: str, value: object, kind: type) -> None:
    if not isinstance(value, int | float):
        raise TypeError(f"Policy.{name}: {value!r} is not a number")
    if kind is int and not isinstance(value, int):
        raise TypeError(f"Policy.{name}: {value!r} is not a whole number")
    least = _LEAST.get(name, 0)
    if not (value > 0 if name in _ABOVE_ZERO else value >= least):
        wanted = "above 0" if name in _ABOVE_ZERO else f"{least:,} or more"
        needed = ", which a kernel needs" if least else ""
        raise ValueError(f"Policy.{name}: {value!r} is out of range; give a number, {wanted}{needed}")
