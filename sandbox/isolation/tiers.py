"""Choose the tier of isolation: the strongest that works on this machine, never below what the Policy accepts."""

from __future__ import annotations

import platform
import shutil
from dataclasses import replace
from pathlib import Path

from sandbox.errors import IsolationError
from sandbox.isolation.bubblewrap import find_bubblewrap
from sandbox.isolation.confinement import Confinement
from sandbox.isolation.interpreter import Interpreter, check_modules, font_lists
from sandbox.policy import TIERS, Policy, Tier


def find_confinement(policy: Policy) -> Confinement:
    """Find how to isolate on this machine, and test it once. Raises IsolationError, InterpreterError."""
    _check_platform()
    interpreter = Interpreter.of(policy.python) if policy.python else Interpreter.current()
    check_modules(policy.modules)
    if policy.wrap:
        policy = replace(policy, wrap=(_find_program(policy.wrap[0]), *policy.wrap[1:]))
    fonts = font_lists(interpreter)
    if policy.isolation != "auto":
        try:
            return _find(policy.isolation, policy, interpreter, fonts)
        except IsolationError as error:
            raise IsolationError(f"no isolation: {error}") from error
    why: list[str] = []
    for tier in reversed(TIERS):
        if TIERS.index(tier) < max(TIERS.index(policy.at_least), 1):  # `none` is never chosen, only asked for
            break
        try:
            found = _find(tier, replace(policy, isolation=tier), interpreter, fonts)
        except IsolationError as error:
            why.append(f"{tier}: {error}")
        else:
            return replace(found, instead_of="; ".join(why))
    refused = (
        f"; Policy(at_least={policy.at_least!r}) accepts no other tier" if policy.at_least == "bwrap" else ""
    )
    raise IsolationError(f"no isolation: {'; '.join(why)}{refused}")


def _check_platform() -> None:
    """Raises IsolationError elsewhere than on Linux, whose system calls every tier needs, `none` too."""
    system = platform.system()
    if system == "Windows":
        raise IsolationError("Windows is supported only through WSL2; install and run PyVision there")
    if system != "Linux":
        name = {"Darwin": "macOS"}.get(system, system)
        raise IsolationError(
            f"cells need Linux; on {name} run it in a Linux container, for example with Docker"
        )


def _find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise IsolationError(f"no isolation: Policy.wrap: {name!r} is not a program on PATH")
    return found


def _find(tier: Tier, policy: Policy, interpreter: Interpreter, fonts: tuple[Path, ...]) -> Confinement:
    match tier:
        case "bwrap":
            return find_bubblewrap(policy, interpreter, fonts)
        case "landlock":
            from sandbox.isolation.landlock import find_landlock

            return find_landlock(policy, interpreter, fonts)
        case "none":
            return Confinement(policy, interpreter, fonts)
