"""Other figures in the place of those that cells show: for the model, and in the kernel under their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyvision.agent.episode import Sandbox, Session
from pyvision.types import Picture
from sandbox import CellResult, Figure, HostFunction


class OtherFigures:
    """A sandbox whose sessions show these pictures instead; the key is the number of the figure, from 0."""

    def __init__(self, sandbox: Sandbox, instead: Mapping[int, Picture]) -> None:
        self._sandbox = sandbox
        self._instead = instead

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Session:
        return _Showing(self._sandbox.open(images), self._instead)


class _Showing:
    def __init__(self, session: Session, instead: Mapping[int, Picture]) -> None:
        self._session = session
        self._instead = instead
        self._shown = 0

    def run(
        self, code: str, *, trace: bool = False, functions: Mapping[str, HostFunction] | None = None
    ) -> CellResult:
        result = self._session.run(code, trace=trace, functions=functions)
        outputs = tuple(self._other(each) if isinstance(each, Figure) else each for each in result.outputs)
        return replace(result, outputs=outputs)

    def define(self, images: Mapping[str, bytes]) -> None:
        self._session.define(images)

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()

    def _other(self, figure: Figure) -> Figure:
        picture = self._instead.get(self._shown)
        self._shown += 1
        if picture is None:
            return figure
        return Figure(picture.data, picture.mime, picture.width, picture.height)
