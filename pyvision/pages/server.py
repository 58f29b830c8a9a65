"""Serve a page made with gradio: on a free port, with the fonts of the system, without reports to its makers."""

from __future__ import annotations

import os
import socket
import threading
from importlib.util import find_spec
from typing import Any

from pyvision.errors import ConfigError, MissingExtra


class PageServer:
    """One page. Raises MissingExtra without gradio, and ConfigError for a host or a port that is not available."""

    def __init__(self, host: str, port: int) -> None:
        """Check everything that can be checked before anything is started."""
        if find_spec("gradio") is None:
            raise MissingExtra("gradio", "demo")
        find_free_port(host, port)
        os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio loads
        self._host, self._port = host, port
        self._blocks: Any = None

    def launch(self, blocks: Any, **options: Any) -> tuple[Any, str]:
        """Serve the blocks of gradio, in threads: the ASGI application, and its address."""
        import gradio as gr

        self._blocks = blocks
        fonts: dict[str, Any] = {
            "font": ["system-ui", "sans-serif"],
            "font_mono": ["ui-monospace", "monospace"],
        }
        app, url, _ = blocks.launch(
            server_name=self._host,
            server_port=find_free_port(self._host, self._port),
            prevent_thread_lock=True,
            quiet=True,
            show_error=False,
            footer_links=[],
            ssr_mode=False,
            theme=gr.themes.Default(**fonts),
            **options,
        )
        return app, str(url)

    def wait(self) -> None:
        """Block until interrupted."""
        threading.Event().wait()

    def close(self) -> None:
        """Stop serving. May be called more than once."""
        if self._blocks is not None:
            self._blocks.close(verbose=False)
            self._blocks = None


def find_free_port(host: str, port: int) -> int:
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
