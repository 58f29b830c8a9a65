"""What a Sandbox keeps running: the zygote, the private folder, and the watch over what a killed host leaves."""

from __future__ import annotations

import itertools
import os
import threading
import warnings
from dataclasses import replace
from pathlib import Path

from sandbox.errors import KernelStartError
from sandbox.isolation.bubblewrap import Confinement, find_confinement
from sandbox.isolation.folder import PrivateFolder, sweep
from sandbox.isolation.reaper import OrphanReaper
from sandbox.isolation.session_limits import find_session_limits
from sandbox.isolation.user_id import UserId
from sandbox.policy import Policy
from sandbox.runtime.kernel import Kernel
from sandbox.runtime.kernel_handle import KernelHandle, Placement, begin, guest_setup
from sandbox.runtime.zygote import Zygote


class Engine:
    """Starts kernels, each in a container of its own. Thread-safe."""

    def __init__(self, policy: Policy, max_memory_bytes: int | None = None) -> None:
        """Find out how to isolate here and start the zygote, without waiting for it. Raises IsolationError.

        max_memory_bytes: of all sessions together; None for a share of the machine.
        """
        if policy.isolation == "none":
            warnings.warn("cells run without isolation, with all that this user may do", stacklevel=4)
        self.limits = find_session_limits(policy, max_memory_bytes)
        try:
            confinement: Confinement = find_confinement(policy)
        except BaseException:
            self.limits.close()
            raise
        self.confinement = replace(confinement, is_measured=self.limits.watchdog is not None)
        sweep()
        self._policy = policy
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._folder = PrivateFolder()
        self._sessions = self._folder.path / "sessions"
        _make_readable(self._sessions)
        self._nothing = self.images_folder()
        self._user = UserId() if self.confinement.setpriv else None
        groups = self.limits.groups
        self._reaper = OrphanReaper(self._folder.path, groups.folders if groups else ())
        self._zygote = self._new_zygote()

    @property
    def uid(self) -> int:
        """The user that cells are, on this machine."""
        return self._user.number if self._user else os.getuid()

    @property
    def landlock_abi(self) -> int:
        """Of the domains that guests are in; 0 for none. Raises KernelStartError."""
        return self._living_zygote().landlock_abi

    def images_folder(self) -> Path:
        """A new one, which the container of one session can show."""
        folder = self._sessions / str(next(self._numbers))
        _make_readable(folder)
        return folder

    def start(self, images: Path) -> Kernel:
        """A new kernel that finds its images in this folder. Raises KernelStartError."""
        place = self._new_place(images)
        try:
            return Kernel.start(self._living_zygote(), place, self._policy)
        except BaseException:
            place.clear()
            raise

    def client_folder(self) -> Path:
        """A new one, private, for sockets to which Jupyter clients connect."""
        folder = self._folder.path / f"c{next(self._numbers)}"
        folder.mkdir()
        return folder

    def start_for_client(self, paths: dict[str, Path], key: str) -> KernelHandle:
        """A new kernel which a Jupyter client talks to over these sockets. Raises KernelStartError."""
        place = self._new_place(self._nothing)
        try:
            return begin(self._living_zygote(), place, paths, guest_setup(key, self._policy, rich=True))
        except BaseException:
            place.clear()
            raise

    def close(self) -> None:
        """End the zygote, and with it every container that is left; remove every file."""
        self._zygote.close()
        self._folder.close()
        self.limits.close()
        self._reaper.dismiss()
        if self._user is not None:
            self._user.close()

    def _new_place(self, images: Path) -> Placement:
        name = f"k{next(self._numbers)}"
        sockets = self._folder.path / name
        sockets.mkdir()
        try:
            group = self.limits.groups.make(name, self._policy) if self.limits.groups else None
        except OSError as error:
            sockets.rmdir()
            raise KernelStartError(f"no cgroup can be made: {error}") from error
        mounts = tuple(self.confinement.session_mounts(images))
        work = self._work(sockets)
        return Placement(images, sockets, mounts, group, self.limits.watchdog, work)

    def _work(self, sockets: Path) -> str:
        """Where cells run. Without isolation it is a folder of the host, removed with the kernel."""
        if self._policy.isolation == "bwrap":
            from sandbox.isolation.bubblewrap import WORK_FOLDER

            return WORK_FOLDER
        folder = sockets / "work"
        folder.mkdir()
        return str(folder)

    def _living_zygote(self) -> Zygote:
        with self._lock:
            if not self._zygote.is_alive:
                self._zygote.close()
                self._zygote = self._new_zygote()
            return self._zygote

    def _new_zygote(self) -> Zygote:
        return Zygote(self.confinement, self._sessions, self.uid, self._reaper.watch)


def _make_readable(folder: Path) -> None:
    """Whatever the umask: the user inside a container is another one. What is above it is private."""
    folder.mkdir()
    folder.chmod(0o755)
