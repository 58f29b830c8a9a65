"""What every tier of isolation has in common: the command of the zygote, what its forks see, and their limits.

The class itself is the tier `none`: cells see the paths of the host, with all rights of the caller. `Bubblewrap`
(bubblewrap.py) and `Landlock` (landlock.py) are the others, and tiers.py chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sandbox.isolation.interpreter import Interpreter
from sandbox.policy import Policy, Tier

GUEST = Path(__file__).parents[1] / "guest"
CAP_SYS_PTRACE = 19
"""With it root sees the memory and the open files of processes of other users."""
_SIGNALS = 1024
# Not by adding the folder to sys.path: `import trace` would then find its `trace.py`.
_BOOT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("guest", sys.argv[2] + "/__init__.py")
sys.modules["guest"] = importlib.util.module_from_spec(spec)
import guest.__main__
"""


@dataclass(frozen=True, slots=True)
class Confinement:
    """How to isolate on this machine. The tier of its policy is never `auto`.

    fonts: matplotlib's font lists, which would otherwise be made again for every session.
    instead_of: the stronger tiers that do not work here, and why; empty if the strongest one is used.
    """

    policy: Policy
    interpreter: Interpreter
    fonts: tuple[Path, ...] = ()
    is_measured: bool = False  # by isolation/watchdog.py, which needs all memory to belong to a process
    instead_of: str = ""

    @property
    def tier(self) -> Tier:
        assert self.policy.isolation != "auto"
        return self.policy.isolation

    @property
    def required_landlock_abi(self) -> int | None:
        """The Landlock ABI that the tier rests on; None if Landlock only adds to another mechanism."""
        return None

    @property
    def switches_user(self) -> bool:
        """Whether the zygote runs under its own user id, because the caller is root."""
        return False

    def place_in(self, folder: Path, uid: int) -> Self:
        """The same, once the private folder of the Sandbox and the user id of the zygote are known."""
        return self

    def zygote_command(self, sessions: Path, uid: int, control: int) -> list[str]:
        """The argv of the zygote; `sessions` holds the image folders of its forks.

        `uid` is used only if the caller is root. `control` is the descriptor of its socket.
        """
        return self.python_command(control, str(GUEST))

    def python_command(self, control: int, guest: str) -> list[str]:
        # Not -I, which would ignore PYTHONHASHSEED; we set the whole environment.
        return [self.interpreter.executable, "-s", "-P", "-c", _BOOT, str(control), guest]

    def setup(self) -> dict[str, Any] | None:
        """What the zygote needs to confine its forks; None if it does not."""
        return None

    def images_folder(self, images: Path) -> str:
        """The path at which a session finds the folder `images`, which is below `sessions`."""
        return str(images)

    def session_mounts(self, images: Path) -> list[str]:
        """What is visible in one session alone: its images."""
        return [str(images)]

    def module_folders(self) -> tuple[str, ...]:
        """The paths at which a session finds the folders of `Policy.modules`."""
        return self.policy.modules

    def work_folder(self, sockets: Path, uid: int) -> str:
        """Make the working directory of a session, in the folder of its sockets, with which it is removed."""
        folder = sockets / "work"
        folder.mkdir()
        return str(folder)

    def environment(self) -> dict[str, str]:
        """The whole environment of the zygote and, where `setup` changes nothing, of its forks."""
        return self._environment(
            "/nonexistent", str(self.fonts[0].parent) if self.fonts else "/tmp/.matplotlib"
        )

    def _environment(self, home: str, fonts: str) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "PYTHONHASHSEED": "random" if self.policy.seed is None else str(self.policy.seed),
            "HOME": home,
            "USER": "guest",
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",
            "MPLCONFIGDIR": fonts,
            "IPYTHONDIR": "/tmp/.ipython",
            "JUPYTER_RUNTIME_DIR": "/tmp/.jupyter",
            # Every thread costs address space and counts as a process: leave the limits to the cell.
            "OMP_NUM_THREADS": "2",
            "OPENBLAS_NUM_THREADS": "2",
            "MKL_NUM_THREADS": "2",
            "MALLOC_ARENA_MAX": "2",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "PIP_NO_INDEX": "1",  # without a network pip would try again for half a minute
        }


def has_capability(number: int) -> bool:
    """Whether this process has a capability of linux/capability.h."""
    status = Path("/proc/self/status").read_text()
    held = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(held, 16) >> number & 1)


def limits(policy: Policy) -> Mapping[str, int]:
    """The resource limits of every process of a session, by name.

    Without isolation two are left out: Linux counts them for all processes of this user on the machine. The landlock
    tier adds the tasks that the machine has already (guest/supervisor.py).
    """
    each = {
        "RLIMIT_AS": policy.memory_bytes,
        "RLIMIT_FSIZE": policy.file_bytes,
        "RLIMIT_NOFILE": policy.open_files,
        "RLIMIT_CORE": 0,
    }
    if policy.isolation == "none":
        return each
    # Timers count as pending signals.
    return {**each, "RLIMIT_NPROC": policy.processes, "RLIMIT_SIGPENDING": _SIGNALS}
