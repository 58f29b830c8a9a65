"""What a Sandbox keeps running: the zygote, the private folder and the orphan reaper."""

from __future__ import annotations

import itertools
import logging
import os
import threading
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

from sandbox.errors import KernelStartError
from sandbox.isolation.cgroup import Urgency
from sandbox.isolation.cleanup import OrphanReaper, PrivateFolder, UserId, sweep
from sandbox.isolation.confinement import Confinement
from sandbox.isolation.session_limits import SessionLimits, find_session_limits
from sandbox.isolation.tiers import find_confinement
from sandbox.policy import Policy, Tier
from sandbox.runtime.kernel import Kernel
from sandbox.runtime.kernel_handle import KernelHandle, KernelResources, build_guest_setup, start_kernel
from sandbox.runtime.zygote import Zygote


class Engine:
    """Starts kernels, each in its own container. Thread-safe."""

    def __init__(self, policy: Policy, max_memory_bytes: int | None = None) -> None:
        """Find out how to isolate on this machine and start the zygote, without waiting for it. Raises IsolationError.

        max_memory_bytes: of all sessions together; None for four fifths of what this process may use.
        """
        confinement = find_confinement(policy)
        policy = confinement.policy  # with the tier that was found
        if confinement.tier == "none" and not policy.wrap:
            warnings.warn("cells run without isolation, with all permissions of this user", stacklevel=4)
        if confinement.instead_of:
            _announce(confinement.tier, confinement.instead_of)
        self.limits: SessionLimits = find_session_limits(policy, max_memory_bytes)
        sweep()
        self._policy = policy
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        groups = self.limits.groups
        self._user: UserId | None = None
        self._folder = PrivateFolder()
        self._reaper = OrphanReaper(self._folder.path, groups.folders if groups else ())
        try:
            self._folder.make()
            self._sessions = self._folder.path / "sessions"
            _make_readable(self._sessions)
            self._empty_images = self.images_folder()
            self._user = UserId() if confinement.switches_user else None
            self.confinement: Confinement = replace(
                confinement.place_in(self._folder.path, self.uid), is_measured=self.limits.is_measured
            )
            self._zygote = self._new_zygote()
        except BaseException:
            self._release()
            raise

    @property
    def uid(self) -> int:
        """The user id on this machine under which cells run."""
        return self._user.number if self._user else os.getuid()

    @property
    def landlock_abi(self) -> int:
        """The Landlock ABI of the guests' domains; 0 for none. Raises KernelStartError."""
        return self._get_zygote().landlock_abi

    def images_folder(self) -> Path:
        """A new folder that can be mounted in the container of one session."""
        folder = self._sessions / str(next(self._numbers))
        _make_readable(folder)
        return folder

    def start(self, images: Path, urgency: Urgency = "new") -> Kernel:
        """Start a kernel whose images are in this folder. Raises KernelStartError.

        urgency: its part of a busy processor while it starts.
        """
        resources = self._allocate_resources(images)
        try:
            return Kernel.start(self._get_zygote(), resources, self._policy, urgency)
        except BaseException:
            resources.release()
            raise

    def client_folder(self) -> Path:
        """A new private folder for the sockets to which Jupyter clients connect."""
        folder = self._folder.path / f"c{next(self._numbers)}"
        folder.mkdir()
        return folder

    def start_for_client(self, paths: dict[str, Path], key: str) -> KernelHandle:
        """Start a kernel that a Jupyter client reaches over these sockets. Raises KernelStartError."""
        resources = self._allocate_resources(self._empty_images)
        try:
            return start_kernel(
                self._get_zygote(), resources, paths, build_guest_setup(key, self._policy, rich=True)
            )
        except BaseException:
            resources.release()
            raise

    def close(self) -> None:
        """End the zygote, and with it every remaining container; remove every file."""
        self._zygote.close()
        self._release()

    def _release(self) -> None:
        self._folder.close()
        self.limits.close()
        self._reaper.dismiss()
        if self._user is not None:
            self._user.close()

    def _allocate_resources(self, images: Path) -> KernelResources:
        name = f"k{next(self._numbers)}"
        sockets = self._folder.path / name
        sockets.mkdir()
        try:
            group = self.limits.groups.make(name, self._policy) if self.limits.groups else None
        except OSError as error:
            sockets.rmdir()
            raise KernelStartError(f"no cgroup can be made: {error}") from error
        mounts = tuple(self.confinement.session_mounts(images))
        work = self.confinement.work_folder(sockets, self.uid)
        return KernelResources(images, sockets, mounts, group, self.limits.watchdog, work)

    def _get_zygote(self) -> Zygote:
        with self._lock:
            if not self._zygote.is_alive:
                self._zygote.close()
                self._zygote = self._new_zygote()
            return self._zygote

    def _new_zygote(self) -> Zygote:
        return Zygote(self.confinement, self._sessions, self.uid, self._reaper.watch)


@cache
def _announce(tier: Tier, instead_of: str) -> None:
    """Log, once in a process, that cells are isolated, but not by the strongest tier."""
    logging.getLogger("sandbox").warning(
        "cells run in the tier %r (%s); Policy(isolation=%r) accepts that silently", tier, instead_of, tier
    )


def _make_readable(folder: Path) -> None:
    """Make it world-readable whatever the umask: a container has another user id. The folder above it is private."""
    folder.mkdir()
    folder.chmod(0o755)
