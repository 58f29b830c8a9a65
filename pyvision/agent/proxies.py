"""A sandbox and its sessions behind another one, to change what strategies see of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyvision.agent.kernel import Sandbox, Session, find_libraries
from sandbox import CellResult, HostFunction, View


class SandboxProxy:
    """Opens the sessions of another sandbox, each behind `wrap`."""

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
