"""What a Sandbox keeps running: the template, the private folder, and the watch over what a killed host leaves."""

from __future__ import annotations

import itertools
import os
import threading
import warnings
from pathlib import Path

from sandbox.isolation.cgroup import find_control_groups
from sandbox.errors import KernelStartError
from sandbox.isolation.folder import PrivateFolder, sweep
from sandbox.isolation.bubblewrap import Jail, find_jail
from sandbox.runtime.kernel import Kernel
from sandbox.policy import Policy
from sandbox.runtime.zygote import Template
from sandbox.runtime.kernel_handle import Place, Tenancy, begin, guest_setup
from sandbox.isolation.user_id import UserId
from sandbox.isolation.reaper import Warden


class Engine:
    """Starts kernels, each in a room of its own. Thread-safe."""

    def __init__(self, policy: Policy) -> None:
        """Find out how to isolate here and start the template, without waiting for it. Raises IsolationError."""
        import zmq

        if policy.isolation == "none":
            warnings.warn("cells run without isolation, with all that this user may do", stacklevel=4)
        self.jail: Jail = find_jail(policy)
        sweep()
        self._policy = policy
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._folder = PrivateFolder()
        self._sessions = self._folder.path / "sessions"
        _make_readable(self._sessions)
        self._nothing = self.images_folder()
        self._user = UserId() if self.jail.setpriv else None
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, 65_536)
        self._groups, self.groups_told = find_control_groups()
        self._warden = Warden(self._folder.path, self._groups.folders if self._groups else ())
        self._template = self._new_template()

    @property
    def uid(self) -> int:
        """The user that cells are, on this machine."""
        return self._user.number if self._user else os.getuid()

    @property
    def has_groups(self) -> bool:
        """Whether the limits on memory and processes hold for a session as a whole."""
        return self._groups is not None

    def images_folder(self) -> Path:
        """A new one, which the room of one session can show."""
        folder = self._sessions / str(next(self._numbers))
        _make_readable(folder)
        return folder

    def start(self, images: Path) -> Kernel:
        """A new kernel that finds its images in this folder. Raises KernelStartError."""
        place = self._new_place(images)
        try:
            return Kernel.start(self._living_template(), place, self._policy)
        except BaseException:
            place.clear()
            raise

    def client_folder(self) -> Path:
        """A new one, private, for sockets to which Jupyter clients connect."""
        folder = self._folder.path / f"c{next(self._numbers)}"
        folder.mkdir()
        return folder

    def start_for_client(self, paths: dict[str, Path], key: str) -> Tenancy:
        """A new kernel which a Jupyter client talks to over these sockets. Raises KernelStartError."""
        place = self._new_place(self._nothing)
        try:
            return begin(self._living_template(), place, paths, guest_setup(key, self._policy, rich=True))
        except BaseException:
            place.clear()
            raise

    def close(self) -> None:
        """End the template, and with it every room that is left; remove every file."""
        self._template.close()
        self._context.destroy(linger=0)
        self._folder.close()
        if self._groups is not None:
            self._groups.close()
        self._warden.dismiss()
        if self._user is not None:
            self._user.close()

    def _new_place(self, images: Path) -> Place:
        name = f"k{next(self._numbers)}"
        sockets = self._folder.path / name
        sockets.mkdir()
        try:
            group = self._groups.make(name, self._policy) if self._groups else None
        except OSError as error:
            sockets.rmdir()
            raise KernelStartError(f"no control group can be made: {error}") from error
        mounts = tuple(self.jail.session_mounts(images))
        return Place(images, sockets, self._context, mounts, group, self._work(sockets))

    def _work(self, sockets: Path) -> str:
        """Where cells run. Without isolation it is a folder of the host, removed with the kernel."""
        if self._policy.isolation == "room":
            from sandbox.isolation.bubblewrap import WORK_FOLDER

            return WORK_FOLDER
        folder = sockets / "work"
        folder.mkdir()
        return str(folder)

    def _living_template(self) -> Template:
        with self._lock:
            if not self._template.is_alive:
                self._template.close()
                self._template = self._new_template()
            return self._template

    def _new_template(self) -> Template:
        return Template(self.jail, self._sessions, self.uid, self._warden.watch)


def _make_readable(folder: Path) -> None:
    """Whatever the umask: the user inside a room is another one. What is above it is private."""
    folder.mkdir()
    folder.chmod(0o755)
