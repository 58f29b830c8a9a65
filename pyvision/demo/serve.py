"""Serve the demo: one warm sandbox, one set of models, until it is interrupted."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyvision.agent.budget import Limits
from pyvision.demo.session import SessionRegistry
from pyvision.demo.settings import Settings, UploadLimits
from pyvision.errors import ConfigError, MissingExtra
from pyvision.runs.report.markup import highlight, styles_of
from sandbox import Policy, Sandbox

_HERE = Path(__file__).parent
_BLOCKS = _HERE.parent / "runs" / "report" / "blocks.css"


@dataclass(frozen=True, slots=True)
class Serving:
    """How the demo is served.

    models: names as `--model` takes them. out: where conversations are kept. at_once: questions answered at the same
    time, the others wait in turn; kernels: the most that are open. prefix: the path under which a proxy shows it.
    people: names and passwords of who may come in; none is everybody.
    """

    host: str = "127.0.0.1"
    port: int = 7860
    models: Sequence[str] = ()
    config: Path | None = None
    out: Path = Path("runs/demo")
    at_once: int = 4
    kernels: int = 32
    idle_s: float = 1800.0
    prefix: str = ""
    people: Sequence[tuple[str, str]] = field(default=(), repr=False)
    share: bool = False
    limits: Limits = field(default_factory=Limits)
    uploads: UploadLimits = field(default_factory=UploadLimits)
    policy: Policy = field(default_factory=Policy)


class Demo:
    """A served demo; `close` ends every kernel. Raises MissingExtra, ConfigError, or SandboxError without isolation."""

    def __init__(self, serving: Serving) -> None:
        if serving.policy.isolation == "none":
            raise ConfigError("the demo runs the code of strangers: it is not served without isolation")
        if find_spec("gradio") is None:
            raise MissingExtra("gradio", "demo")
        _port(serving.host, serving.port)  # refused before anything is started
        os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio loads
        self._settings = Settings(serving.models, serving.config, serving.limits)
        self._sandbox = Sandbox(serving.policy, spare=1, max_sessions=serving.kernels)
        self._sessions = SessionRegistry(
            self._sandbox, serving.out.resolve(), _address(serving.prefix), serving.idle_s
        )
        self._blocks: Any = None
        try:
            self._sandbox.warm_up()
            self._settings.default_task()
            _load()
            self.url = self._launch(serving)
        except BaseException:
            self.close()
            raise

    @property
    def sessions(self) -> SessionRegistry:
        return self._sessions

    def wait(self) -> None:
        """Until somebody interrupts."""
        threading.Event().wait()

    def close(self) -> None:
        """End it for everybody. Twice is once."""
        if self._blocks is not None:
            self._blocks.close(verbose=False)
            self._blocks = None
        self._sessions.close()
        self._settings.close()
        self._sandbox.close()

    def _launch(self, serving: Serving) -> str:
        import gradio as gr

        from pyvision.demo.page import Page, examples

        page = Page(self._sessions, self._settings, serving.uploads, examples(), serving.at_once)
        self._blocks = page.blocks.queue(max_size=200)
        self._blocks._queue.sleep_when_free = 0.01  # as 0.001 it takes 7 % of a core while nobody asks
        serving.out.mkdir(parents=True, exist_ok=True)
        fonts: dict[str, Any] = {
            "font": ["system-ui", "sans-serif"],
            "font_mono": ["ui-monospace", "monospace"],
        }
        _, url, _ = self._blocks.launch(
            server_name=serving.host,
            server_port=_port(serving.host, serving.port),
            root_path=serving.prefix or None,
            auth=list(serving.people) or None,
            share=serving.share,
            allowed_paths=[str(serving.out.resolve())],
            max_file_size=serving.uploads.picture_bytes,
            prevent_thread_lock=True,
            quiet=True,
            show_error=False,
            footer_links=[],
            ssr_mode=False,
            theme=gr.themes.Default(**fonts),
            css=_style(),
            head=f"<script>{(_HERE / 'demo.js').read_text(encoding='utf-8')}</script>",
        )
        return str(url)


def _load() -> None:
    """What would be loaded with the first question: a second, in which its visitor saw nothing."""
    highlight("0")
    if find_spec("matplotlib"):  # gradio asks it for its backend at each call, and one is loaded to find out
        import_module("matplotlib").use("agg")


def _port(host: str, port: int) -> int:
    """A port to listen on, for 0 any free one. Raises ConfigError where it is taken, or none of this machine's."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(address)
            return int(free.getsockname()[1])
    except OSError as error:
        raise ConfigError(
            f"{host}:{port} cannot be listened on ({error.strerror}); choose --port N, where 0 is any free one, "
            "or another --host"
        ) from error


def _address(prefix: str) -> Any:
    """Where a browser finds a file of a conversation."""
    return lambda path: f"{prefix.rstrip('/')}/gradio_api/file={path}"


def _style() -> str:
    """The report's own blocks inside the conversation, in light and in dark as gradio has them."""
    blocks, own = _BLOCKS.read_text(encoding="utf-8"), (_HERE / "demo.css").read_text(encoding="utf-8")
    code = f"#talk {{\n{styles_of('light')}\n}}\n.dark #talk {{\n{styles_of('dark')}\n}}"
    return f"#talk {{\n{blocks}\n}}\n{code}\n{own}"
