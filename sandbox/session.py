"""A Session runs cells in one kernel, and replaces the kernel when a cell ends it."""

from __future__ import annotations

import math
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from keyword import iskeyword
from pathlib import Path
from typing import Any, Self, TypeAlias

from sandbox.errors import ImageError, SessionClosed
from sandbox.policy import HostFunction, Policy
from sandbox.protocol.pacing import Credit
from sandbox.results import CellError, CellResult, View
from sandbox.runtime.cell import Cell, build_memory_error, run_cell
from sandbox.runtime.engine import Engine
from sandbox.runtime.kernel import Kernel

_RECENT_S = 10.0  # two losses of a kernel within this time count as repeated
_FREE_LOSSES = 3
_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.1, 1.0
_DIED_BETWEEN = (
    "the kernel had ended after the previous cell, and this one did not run; "
    "variables are lost, the images are loaded again"
)
_CLUE = re.compile(r"image_(?:clue_)?(\d+)")
_NAME_CHARS = 100


class ImageData(bytes):
    """An image file as bytes, with the name under which cells find it in their working folder."""

    file_name: str

    def __new__(cls, data: bytes, file_name: str) -> Self:
        made = super().__new__(cls, data)
        made.file_name = file_name
        return made


ImageSource: TypeAlias = str | Path | bytes  # bytes may be ImageData


class Closing:
    """A base for what its owner closes, by `close` or at the end of a `with`."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError


class Session(Closing):
    """One kernel and its images. Thread-safe: `run` and `define` wait for each other, the other methods do not wait."""

    def __init__(
        self, engine: Engine, policy: Policy, kernel: Kernel, on_close: Callable[[Session], None]
    ) -> None:
        self._engine = engine
        self._policy = policy
        self._kernel: Kernel | None = kernel
        self._on_close = on_close
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        folder = kernel.resources.images
        self._images = ImageFolder(folder, engine.confinement.images_folder(folder))
        self._views: dict[str, Any] = {}
        self._interrupt_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._throttle = _Throttle()
        self._credit = Credit()
        self._closed = threading.Event()
        self._unreported: CellError | None = None  # the loss of a kernel that no result has reported yet
        self.closed = False

    def run(
        self,
        code: str,
        *,
        timeout_s: float | None = None,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        """Run one cell. Never raises for what it does; SessionClosed, KernelStartError in a restore, or ValueError.

        timeout_s: the limit of this cell, above 0; None is that of the Policy. trace: record in `result.trace` which
        lines ran and what they changed. functions: what the cell can call as `host.NAME(…)`, with images among the
        arguments; each call runs on the host, in its own thread, with all the host's rights. The time that calls
        take does not count as the cell's. on_output: called with what the cell prints, as it arrives and on the
        thread that runs the cell, so it must return quickly; after 100,000 characters it is called no more. What it
        raises ends the kernel, and `run` raises it.
        """
        if not isinstance(code, str):
            raise TypeError(f"the code is {type(code).__name__}; give a str")
        policy = self._policy if timeout_s is None else replace(self._policy, cell_timeout_s=timeout_s)
        cell = Cell(code, trace, functions or {}, on_output)
        with self._lock:
            self._check_alive()
            if (unreported := self._unreported) is not None:
                self._unreported = None
                return CellResult("died", error=unreported, state="lost")
            kernel = self._get_kernel()
            self._clear_interrupt()
            try:
                result = run_cell(kernel, cell, policy, self._interrupt_fd, self._credit)
            except BaseException:  # Ctrl-C: a cell that keeps running would block the next one
                self._drop_kernel()
                raise
            if result.state == "lost":
                self._drop_kernel()
            return result

    def define(self, images: Mapping[str, ImageSource], views: Mapping[str, View] | None = None) -> None:
        """Define more images in the kernel, as RGB. Raises ImageError; then none of them is defined.

        Their files, with their own bytes and read-only, are in the working folder: NAME.png and NAME.jpg, for
        image_clue_K also image_K.png and image_K.jpg, and the name of the file that they come from, if it is known.
        views: how these or earlier images were shown, by name, for the helpers that cells can call.
        """
        if not isinstance(images, Mapping):
            raise TypeError(
                f"the images are {type(images).__name__}; give them by name: {{'image_clue_0': 'photo.png'}}"
            )
        with self._lock:
            self._check_alive()
            kernel = self._get_kernel()
            files = self._images.add(images)
            plain = {name: asdict(view) for name, view in (views or {}).items()}
            self._load(kernel, files, plain)
            self._images.keep(files)
            self._views.update(plain)

    def interrupt(self) -> None:
        """Interrupt the running cell, if any: its `run` returns an error result. From any thread."""
        with self._closing:
            if not self.closed:
                os.eventfd_write(self._interrupt_fd, 1)

    def close(self) -> None:
        """End the kernel and remove the files of this session. From any thread; may be called twice."""
        with self._closing:
            if self.closed:
                return
            self.closed = True
            self._closed.set()
            if self._kernel is not None:
                self._kernel.kill()  # which ends a `run` in another thread
            with self._lock:
                shutil.rmtree(self._images.folder, ignore_errors=True)  # while the kernel ends
                self._drop_kernel()
                os.close(self._interrupt_fd)
        self._on_close(self)

    def _check_alive(self) -> None:
        if self._kernel is not None and not self._kernel.is_alive():
            exhausted = self._kernel.find_exhausted()
            self._drop_kernel()
            if not self.closed:
                died = CellError("KernelDied", _DIED_BETWEEN)
                self._unreported = build_memory_error(exhausted, self._policy) if exhausted else died

    def _get_kernel(self) -> Kernel:
        """The kernel; after a loss a new one, with every image loaded again."""
        if self.closed:
            raise SessionClosed("this session is closed; open another one")
        if self._kernel is None:
            self._closed.wait(
                self._throttle.delay_s()
            )  # a session that keeps ending its kernels costs the others little
            if self.closed:
                raise SessionClosed("this session is closed; open another one")
            self._kernel = self._engine.start(self._images.folder, "long")
            try:
                self._load(self._kernel, self._images.files, self._views)
            except BaseException:  # also on Ctrl-C: a kernel without its images must not be used
                self._drop_kernel()
                raise
        return self._kernel

    def _load(self, kernel: Kernel, files: Mapping[str, str], views: Mapping[str, Any]) -> None:
        if not (files or views):
            return
        deadline = time.monotonic() + self._policy.start_timeout_s
        content = {"names": dict(files), "links": self._images.links(files), "views": dict(views)}
        ending, reply = kernel.request("define_request", content, deadline)
        if ending != "replied":
            self._drop_kernel()
            self._unreported = CellError("KernelDied", _DIED_BETWEEN)
            if not files:
                return
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

    def _clear_interrupt(self) -> None:
        try:
            os.eventfd_read(self._interrupt_fd)
        except BlockingIOError:
            return  # no interrupt was requested since the last cell


class _Throttle:
    """The delay before a lost kernel is replaced: none for the first few losses, then exponential back-off."""

    def __init__(self) -> None:
        self._last = -math.inf
        self._recent = 0

    def delay_s(self) -> float:
        """The next delay. Call it once for each replacement."""
        now = time.monotonic()
        self._recent = self._recent + 1 if now - self._last < _RECENT_S else 0
        self._last = now
        return (
            min(_FIRST_DELAY_S * 2 ** (self._recent - _FREE_LOSSES), _LONGEST_DELAY_S)
            if self._recent >= _FREE_LOSSES
            else 0.0
        )


class ImageFolder:
    """The images of one session, by the name that cells use. Adding a name again replaces its image."""

    def __init__(self, folder: Path, guest_folder: str) -> None:
        self.folder = folder
        self._guest_folder = guest_folder  # where the kernel finds the same folder
        self._count = 0
        self._files: dict[str, str] = {}  # name -> path in the container
        self._links: dict[str, tuple[str, ...]] = {}  # path in the container -> names in the working folder

    def add(self, images: Mapping[str, ImageSource]) -> dict[str, str]:
        """Copy the images and return their paths in the container by name. Raises ImageError; then none is added."""
        read = {_check_name(name): _read(name, source) for name, source in images.items()}
        files = {name: self._write(name, data) for name, data in read.items()}
        for name, path in files.items():
            self._links[path] = _file_names(name, images[name])
        return files

    def links(self, files: Mapping[str, str]) -> dict[str, str]:
        """The paths of these files by the names that they have in the working folder."""
        return {link: path for path in files.values() for link in self._links[path]}

    def keep(self, files: Mapping[str, str]) -> None:
        """Remember the files that the kernel has accepted, to load them again after a restart."""
        self._files.update(files)

    @property
    def files(self) -> dict[str, str]:
        return dict(self._files)

    def _write(self, name: str, data: bytes) -> str:
        path = self.folder / str(self._count)
        self._count += 1
        try:
            path.write_bytes(data)
        except OSError as error:
            raise ImageError(
                f"{name}: cannot be copied to {path}: {error.strerror}; free space there"
            ) from error
        path.chmod(0o444)  # the folder above is private; the user inside the container is another one
        return f"{self._guest_folder}/{path.name}"


def _check_name(name: str) -> str:
    if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
        raise ImageError(f"{name!r} cannot name an image; use a Python name such as image_clue_0")
    return name


def _file_names(name: str, source: ImageSource) -> tuple[str, ...]:
    """The names of an image in the working folder: those that code for images guesses, and its own."""
    clue = _CLUE.fullmatch(name)
    stems = (name, f"image_{clue[1]}") if clue else (name,)
    own = (
        source.file_name
        if isinstance(source, ImageData)
        else ""
        if isinstance(source, bytes)
        else str(source)
    )
    own = re.sub(r"[^\w.-]", "_", Path(own).name)[-_NAME_CHARS:].lstrip(".-")
    names = [stem + ending for stem in stems for ending in (".png", ".jpg")]
    return (*names, own) if own and not _CLUE.match(own) else tuple(names)


def _read(name: str, source: ImageSource) -> bytes:
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ImageError(f"{name}: a {type(source).__name__} is not an image; give bytes or a path")
    path = Path(source)
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise ImageError(f"{name}: {source} {what}; give the path of an image file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImageError(f"{name}: {path} cannot be read: {error.strerror}") from error
