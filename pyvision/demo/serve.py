"""Serve the demo: one warm sandbox and one set of models for all visitors, until interrupted."""

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
from pyvision.config.files import explain_os_errors
from pyvision.demo.actions import Actions
from pyvision.demo.files import FILES, serve_files
from pyvision.demo.session_registry import SessionRegistry
from pyvision.demo.settings import Settings, UploadLimits
from pyvision.errors import ConfigError, MissingExtra
from pyvision.runs.report.markup import highlight, token_styles
from pyvision.solve import offer_offline_modules
from sandbox import Policy, Sandbox

_HERE = Path(__file__).parent
_BLOCKS = _HERE.parent / "runs" / "report" / "blocks.css"


@dataclass(frozen=True, slots=True)
class Serving:
    """How the demo is served.

    models: names as `--model` takes them. out: the folder for conversations. at_once: the number of questions answered
    at the same time; others are queued. kernels: the number of open kernels. idle_s: how long an unused kernel is kept,
    and the conversations of a visitor who has left. keep: never delete what was recorded. prefix: the path under which
    a proxy serves the demo. people: (name, password) pairs; without any, the demo is open to everyone.
    """

    host: str = "127.0.0.1"
    port: int = 7860
    models: Sequence[str] = ()
    config: Path | None = None
    out: Path = Path("runs/demo")
    at_once: int = 4
    kernels: int = 32
    idle_s: float = 1800.0
    keep: bool = False
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
            raise ConfigError("the demo runs code for strangers and is not served without isolation")
        if find_spec("gradio") is None:
            raise MissingExtra("gradio", "demo")
        _free_port(serving.host, serving.port)  # fails before anything is started
        with explain_os_errors(serving.out):
            serving.out.mkdir(parents=True, exist_ok=True)
        os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio loads
        self._settings = Settings(serving.models, serving.config, serving.limits)
        self._sandbox = Sandbox(offer_offline_modules(serving.policy), spare=1, max_sessions=serving.kernels)
        self._registry = SessionRegistry(
            self._sandbox,
            serving.out.resolve(),
            lambda path: f"{serving.prefix.rstrip('/')}/{FILES}/{path}",
            idle_s=serving.idle_s,
            at_once=serving.at_once,
            keep=serving.keep,
        )
        self._blocks: Any = None
        try:
            self._sandbox.warm_up()
            self._settings.default_task()
            _preload()
            self.url = self._launch(serving)
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Block until interrupted."""
        threading.Event().wait()

    def close(self) -> None:
        """End every session and release all resources. May be called more than once."""
        if self._blocks is not None:
            self._blocks.close(verbose=False)
            self._blocks = None
        self._registry.close()
        self._settings.close()
        self._sandbox.close()

    def _launch(self, serving: Serving) -> str:
        import gradio as gr
        from gradio.utils import get_upload_folder
        from starlette.middleware import Middleware

        from pyvision.demo.first_paint import FirstPaint
        from pyvision.demo.page import build_page

        actions = Actions(self._registry, self._settings, serving.uploads, Path(get_upload_folder()))
        self._blocks = build_page(actions, serving.prefix).queue(max_size=1000)
        self._blocks._queue.sleep_when_free = 0.01  # the default of 0.001 uses 7 % of a core while idle
        fonts: dict[str, Any] = {
            "font": ["system-ui", "sans-serif"],
            "font_mono": ["ui-monospace", "monospace"],
        }
        app, url, _ = self._blocks.launch(
            server_name=serving.host,
            server_port=_free_port(serving.host, serving.port),
            root_path=serving.prefix or None,
            auth=list(serving.people) or None,
            share=serving.share,
            max_file_size=serving.uploads.picture_bytes,
            prevent_thread_lock=True,
            quiet=True,
            show_error=False,
            footer_links=[],
            ssr_mode=False,
            theme=gr.themes.Default(**fonts),
            app_kwargs={"middleware": [Middleware(FirstPaint, _style())]},
        )
        serve_files(app, actions)
        return str(url)


def _preload() -> None:
    """Load what the first question needs, which would delay its first update by a second."""
    highlight("0")
    if find_spec("matplotlib"):  # gradio asks for its backend at each call, which loads one
        import_module("matplotlib").use("agg")


def _free_port(host: str, port: int) -> int:
    """A port to listen on; 0 means any free port. Raises ConfigError if host or port is not available."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(address)
            return int(free.getsockname()[1])
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --port (0 takes any free port) "
            "or --host"
        ) from error


def _style() -> str:
    """The style of the report's blocks, for the chat, in gradio's light and dark modes."""
    blocks = _BLOCKS.read_text(encoding="utf-8")
    own = (_HERE / "assets" / "chat.css").read_text(encoding="utf-8")
    light, dark = (f"#chat {{\n{token_styles(theme)}\n}}" for theme in ("light", "dark"))
    return f"#chat {{\n{blocks}\n}}\n{light}\n.dark {dark}\n{own}"
