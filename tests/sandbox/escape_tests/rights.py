"""Whether this is root of a whole machine, rather than of a container that keeps rights from it."""

from __future__ import annotations

import os
from pathlib import Path

# linux/capability.h: modules, devices, tracing, administration, time. Containers withhold some of them.
_OF_A_MACHINE = (16, 17, 19, 21, 25)


def is_root_of_a_machine() -> bool:
    """Root without a user namespace around it, with the capabilities that only a machine gives."""
    everybody = ["0", "0", "4294967295"]
    return (
        os.getuid() == 0
        and Path("/proc/self/uid_map").read_text().split() == everybody
        and _has_capabilities()
    )


def _has_capabilities() -> bool:
    status = Path("/proc/self/status").read_text()
    held = int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), 16)
    return all(held >> capability & 1 for capability in _OF_A_MACHINE)
