"""Serve the study page on this machine until it is interrupted."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyvision.bench.samples import Sample
from pyvision.errors import MissingExtra
from pyvision.experiments.avis_study.log import Log, list_answered, read_log
from pyvision.experiments.avis_study.sessions import SessionRegistry, TaskQueue
from pyvision.experiments.avis_study.toolbox import Toolbox

_STYLE = Path(__file__).parent / "study.css"


@dataclass(frozen=True, slots=True)
class Serving:
    """How the page is served. everyone: each participant gets every question, not a share.

    max_concurrent: how many events of the page are handled at the same time.
    """

    log: Path
    samples: Sequence[Sample]
    host: str = "127.0.0.1"
    port: int = 7861
    everyone: bool = False
    max_concurrent: int = 8


class Study:
    """A page being served; the caller closes the toolbox. Raises MissingExtra, or RunFolderError for its log."""

    def __init__(self, serving: Serving, toolbox: Toolbox) -> None:
        if find_spec("gradio") is None:
            raise MissingExtra("gradio", "demo")
        os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio loads
        self._blocks: Any = None
        self._log = Log(serving.log)
        try:
            closed = list_answered(read_log(serving.log).attempts)
            queue = TaskQueue(serving.samples, closed, everyone=serving.everyone)
            self._sessions = SessionRegistry(queue, toolbox, self._log)
            self.url = self._launch(serving)
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Block until KeyboardInterrupt."""
        threading.Event().wait()

    def close(self) -> None:
        """Stop serving and close the log. Idempotent."""
        if self._blocks is not None:
            self._blocks.close(verbose=False)
            self._blocks = None
        self._log.close()

    def _launch(self, serving: Serving) -> str:
        import gradio as gr

        from pyvision.experiments.avis_study.page import Page

        self._blocks = Page(self._sessions, serving.max_concurrent).blocks.queue(max_size=200)
        fonts: dict[str, Any] = {
            "font": ["system-ui", "sans-serif"],
            "font_mono": ["ui-monospace", "monospace"],
        }
        _, url, _ = self._blocks.launch(
            server_name=serving.host,
            server_port=serving.port or None,
            prevent_thread_lock=True,
            quiet=True,
            show_error=False,
            footer_links=[],
            ssr_mode=False,
            theme=gr.themes.Default(**fonts),
            css=_STYLE.read_text(encoding="utf-8"),
        )
        return str(url)
