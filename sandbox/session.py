"""The public face: a Sandbox opens Sessions, a Session runs cells and survives whatever they do."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.cell import run_cell
from sandbox.errors import ImageError, SessionClosed
from sandbox.folder import PrivateFolder, sweep
from sandbox.fonts import font_lists
from sandbox.images import ImageFolder, ImageSource
from sandbox.jail import FONTS_FOLDER, IMAGES_FOLDER, Jail, Mount, find_jail
from sandbox.kernel import Kernel, Place
from sandbox.policy import Policy
from sandbox.results import CellError, CellResult
from sandbox.user_id import UserId

_DIED_BETWEEN = (
    "the kernel had ended after the previous cell, and this one did not run; "
    "variables are lost, the images are loaded again"
)


class Sandbox:
    """Opens isolated sessions under one Policy. Cheap to make, thread-safe; `close` ends every session."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self._lock = threading.Lock()
        self._jail: Jail | None = None
        self._fonts: tuple[Mount, ...] = ()
        self._sessions: set[Session] = set()
        self._closed = False

    def open(self, images: Mapping[str, ImageSource] | None = None) -> Session:
        """A new kernel that holds `images` under their names. The caller closes it.

        Raises IsolationError, KernelStartError, ImageError or SessionClosed.
        """
        with self._lock:
            if self._closed:
                raise SessionClosed("this sandbox is closed; make another one")
            jail = self._find_jail()
            session = Session(jail, self._fonts)
            self._sessions = {known for known in self._sessions if not known.closed} | {session}
        try:
            session.define(images or {})
        except BaseException:  # also on Ctrl-C: the caller has nothing yet that could be closed
            session.close()
            raise
        return session

    def close(self) -> None:
        """End every session. Twice is once."""
        with self._lock:
            self._closed = True
            sessions, self._sessions = self._sessions, set()
        for session in sessions:
            session.close()

    def _find_jail(self) -> Jail:
        if self._jail is None:
            self._jail = find_jail(self.policy)
            sweep()
            lists = font_lists(self._jail.interpreter)
            self._fonts = tuple(Mount(path, f"{FONTS_FOLDER}/{path.name}") for path in lists)
        return self._jail

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


class Session:
    """One kernel and its images. Thread-safe: `run` and `define` wait for each other, the rest does not."""

    def __init__(self, jail: Jail, fonts: tuple[Mount, ...]) -> None:
        self._policy = jail.policy
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._folder = PrivateFolder()
        folder = self._folder.path / "images"
        folder.mkdir()
        folder.chmod(0o755)  # whatever the umask: the user inside the room is another one
        self._images = ImageFolder(folder)
        self._user = UserId() if jail.setpriv else None
        uid = self._user.number if self._user else os.getuid()
        self._place = Place(jail, (Mount(folder, IMAGES_FOLDER), *fonts), uid)
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._kernel: Kernel | None = None
        self._untold = False  # a kernel was lost and no result has said so yet
        self.closed = False

    def run(self, code: str) -> CellResult:
        """Run one cell. Never raises for what it does; SessionClosed, or KernelStartError in a restore."""
        with self._lock:
            self._notice_death()
            if self._untold:
                self._untold = False
                return CellResult("died", error=CellError("KernelDied", _DIED_BETWEEN), state="lost")
            kernel = self._living_kernel()
            self._clear_wake()
            try:
                result = run_cell(kernel, code, self._policy, self._wake)
            except BaseException:  # Ctrl-C: a cell that runs on would keep the next one waiting
                self._drop_kernel()
                raise
            if result.state == "lost":
                self._drop_kernel()
            return result

    def define(self, images: Mapping[str, ImageSource]) -> None:
        """Give the kernel more images, as RGB. Raises ImageError; then none of them is defined."""
        with self._lock:
            self._notice_death()
            kernel = self._living_kernel()
            files = self._images.add(images)
            self._load(kernel, files)
            self._images.keep(files)

    def interrupt(self) -> None:
        """Stop the cell that runs now, if any: its `run` returns an error result. From any thread."""
        with self._closing:
            if not self.closed:
                os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """End the kernel and remove everything of this session. From any thread; twice is once."""
        with self._closing:
            if self.closed:
                return
            self.closed = True
            if self._kernel is not None:
                self._kernel.kill()  # which ends a `run` in another thread
            with self._lock:
                self._drop_kernel()
                os.close(self._wake)
                self._folder.close()
                if self._user is not None:
                    self._user.close()

    def _notice_death(self) -> None:
        if self._kernel is not None and not self._kernel.is_alive():
            self._drop_kernel()
            self._untold = not self.closed

    def _living_kernel(self) -> Kernel:
        """The kernel; after a loss a new one, with every image again."""
        if self.closed:
            raise SessionClosed("this session is closed; open another one")
        if self._kernel is None:
            folder = Path(tempfile.mkdtemp(prefix="k", dir=self._folder.path))
            self._kernel = Kernel.start(self._place, folder)
            try:
                self._load(self._kernel, self._images.kept)
            except BaseException:  # also on Ctrl-C: a kernel without its images must not be used
                self._drop_kernel()
                raise
        return self._kernel

    def _load(self, kernel: Kernel, files: Mapping[str, str]) -> None:
        if not files:
            return
        deadline = time.monotonic() + self._policy.start_timeout_s
        ending, reply = kernel.request("define_request", {"names": dict(files)}, deadline)
        if ending != "replied":
            self._drop_kernel()
            self._untold = True
            raise ImageError(
                f"{', '.join(files)}: too large to be decoded under this Policy; give a smaller image"
            )
        failed = reply.get("failed")
        if isinstance(failed, dict) and failed:
            name, reason = next(iter(failed.items()))
            raise ImageError(f"{name}: cannot be decoded as an image: {reason}"[:500])

    def _drop_kernel(self) -> None:
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            kernel.close()

    def _clear_wake(self) -> None:
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            return  # nobody asked for an interrupt since the last cell

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()
