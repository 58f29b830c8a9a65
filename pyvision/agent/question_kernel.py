"""The kernel of one question: opened with its images, its figures named, its cells run so that Ctrl-C ends them.

`Sandbox` and `Session` are what it needs of a sandbox; the proxies pass them on, changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from pyvision.types import Picture, Question
from sandbox import CellResult, HostFunction, ImageData, Region, SandboxError, View

_INTERRUPTED_S = 5.0  # that a cell may take to end when it is interrupted


class Session(Protocol):
    """One kernel with the images of one question in it; `sandbox.Session` is one."""

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult: ...

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


class Sandbox(Protocol):
    """Where sessions come from; `sandbox.Sandbox` is one. It may have `libraries` too: see `find_libraries`."""

    def warm_up(self) -> None: ...

    def open(self, images: Mapping[str, bytes]) -> Session: ...


def find_libraries(sandbox: Sandbox) -> tuple[str, ...]:
    """The libraries that cells can import in it, by the names to import; empty if the sandbox does not say.

    Raises sandbox.SandboxError if no cell can run.
    """
    found: tuple[str, ...] = getattr(sandbox, "libraries", ())
    return found


class SandboxProxy:
    """Opens the sessions of another sandbox, each behind `wrap`, to change what strategies see of them."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    @property
    def libraries(self) -> tuple[str, ...]:
        return find_libraries(self._sandbox)

    def open(self, images: Mapping[str, bytes]) -> Session:
        return self.wrap(self._sandbox.open(images))

    def wrap(self, session: Session) -> Session:
        """The session that a strategy gets."""
        raise NotImplementedError


class SessionProxy:
    """Passes everything on to another session; a subclass changes what it names."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        return self.change(self._session.run(code, trace=trace, functions=functions, on_output=on_output))

    def change(self, result: CellResult) -> CellResult:
        """The result that a strategy gets."""
        return result

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        self._session.define(images, views)

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()


class QuestionKernel:
    """A session that opens when it is needed, and the views of all images in it.

    `open`, `define` and `show` raise sandbox.SandboxError if there is no kernel.
    """

    def __init__(self, question: Question, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._question = question
        self._session: Session | None = None
        self._named = question.earlier.named + len(question.images)
        self._views: dict[str, View] = {}

    @property
    def figures(self) -> Mapping[str, tuple[Region, ...]]:
        """The figures defined so far, in their order, each with what the code in the kernel says that it shows."""
        return {name: view.regions for name, view in self._views.items() if view.regions is not None}

    def open(self) -> Session:
        """The session, opened with the images of the question unless it is open."""
        if self._session is None:
            named = self._question.named_images
            files = {name: ImageData(picture.data, picture.file_name) for name, picture in named}
            self._session = self.sandbox.open(files)
            if self._views:
                self._session.define({}, self._views)
        return self._session

    def define(self, picture: Picture, regions: tuple[Region, ...]) -> str:
        """Define a figure under the next free name `image_clue_k`, which is returned. Later names cannot be in it."""
        name = f"image_clue_{self._named}"
        earlier = {f"image_clue_{number}" for number in range(self._named)}
        self._named += 1
        self._views[name] = View(regions=tuple(region for region in regions if region.name in earlier))
        self.open().define({name: picture.data}, {name: self._views[name]})
        return name

    def show(self, sizes: Mapping[str, tuple[float, float, float, float]]) -> Mapping[str, View]:
        """Record how images were sent to a model (`View.shown`), also for the helpers in a kernel that is open."""
        for name, size in sizes.items():
            self._views[name] = replace(self._views.get(name, View()), shown=size)
        views = {name: self._views[name] for name in sizes}
        if self._session is not None and views:
            self._session.define({}, views)
        return views

    def close(self) -> None:
        """End the session, if there is one."""
        if self._session is not None:
            self._session.close()


def run_interruptibly(
    session: Session, run: Callable[[], CellResult], record: Callable[[CellResult], None]
) -> CellResult:
    """The result of a cell, recorded; a cell that Ctrl-C ends is recorded with its output so far.

    Only the main thread gets a KeyboardInterrupt, so there the cell runs in a separate thread.
    """
    if threading.current_thread() is not threading.main_thread():
        result = run()
        record(result)
        return result
    with ThreadPoolExecutor(1, "cell") as thread:
        running: Future[CellResult] | None = None
        try:
            running = thread.submit(run)
            result = running.result()
        except KeyboardInterrupt:
            session.interrupt()
            with suppress(TimeoutError, SandboxError):
                if running is not None:
                    record(running.result(_INTERRUPTED_S))
            session.close()  # ends a cell that does not let itself be interrupted
            raise
    record(result)
    return result
