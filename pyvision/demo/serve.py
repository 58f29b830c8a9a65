"""Serve the demo: one warm sandbox and one set of models for all visitors, until interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from pyvision.agent.budget import Limits
from pyvision.config.files import explain_os_errors
from pyvision.demo.actions import Actions
from pyvision.demo.files import FILES, serve_files
from pyvision.demo.session_registry import SessionRegistry
from pyvision.demo.settings import Settings, UploadLimits
from pyvision.errors import ConfigError
from pyvision.pages.markup import highlight, token_styles
from pyvision.pages.server import PageServer
from pyvision.solve import offer_offline_modules
from sandbox import Policy, Sandbox

_HERE = Path(__file__).parent
_BLOCKS = _HERE.parent / "pages" / "blocks.css"


@dataclass(frozen=True, slots=True)
class DemoOptions:
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

    def __init__(self, options: DemoOptions) -> None:
        if options.policy.isolation == "none":
            raise ConfigError("the demo runs code for strangers and is not served without isolation")
        self._server = PageServer(options.host, options.port)
        with explain_os_errors(options.out):
            options.out.mkdir(parents=True, exist_ok=True)
        self._settings = Settings(options.models, options.config, options.limits)
        self._sandbox = Sandbox(offer_offline_modules(options.policy), spare=1, max_sessions=options.kernels)
        self._registry = SessionRegistry(
            self._sandbox,
            options.out.resolve(),
            lambda path: f"{options.prefix.rstrip('/')}/{FILES}/{path}",
            idle_s=options.idle_s,
            at_once=options.at_once,
            keep=options.keep,
        )
        try:
            self._sandbox.warm_up()
            self._settings.default_task()
            _preload()
            self.url = self._launch(options)
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Block until interrupted."""
        self._server.wait()

    def close(self) -> None:
        """End every session and release all resources. May be called more than once."""
        self._server.close()
        self._registry.close()
        self._settings.close()
        self._sandbox.close()

    def _launch(self, options: DemoOptions) -> str:
        from gradio.utils import get_upload_folder
        from starlette.middleware import Middleware

        from pyvision.demo.first_paint import FirstPaint
        from pyvision.demo.page import build_page

        actions = Actions(self._registry, self._settings, options.uploads, Path(get_upload_folder()))
        blocks = build_page(actions, options.prefix).queue(max_size=1000)
        blocks._queue.sleep_when_free = 0.01  # the default of 0.001 uses 7 % of a core while idle
        app, url = self._server.launch(
            blocks,
            root_path=options.prefix or None,
            auth=list(options.people) or None,
            share=options.share,
            max_file_size=options.uploads.picture_bytes,
            app_kwargs={"middleware": [Middleware(FirstPaint, _style())]},
        )
        serve_files(app, actions)
        return url


def _preload() -> None:
    """Load what the first question needs, which would delay its first update by a second."""
    highlight("0")
    if find_spec("matplotlib"):  # gradio asks for its backend at each call, which loads one
        import_module("matplotlib").use("agg")


def _style() -> str:
    """The style of the report's blocks, for the chat, in gradio's light and dark modes."""
    blocks = _BLOCKS.read_text(encoding="utf-8")
    own = (_HERE / "assets" / "chat.css").read_text(encoding="utf-8")
    light, dark = (f"#chat {{\n{token_styles(theme)}\n}}" for theme in ("light", "dark"))
    return f"#chat {{\n{blocks}\n}}\n{light}\n.dark {dark}\n{own}"
