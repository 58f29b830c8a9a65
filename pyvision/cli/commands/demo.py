"""`pyvision demo`: a chat in the browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.flags import above_zero, count, port
from pyvision.config.environment import environment
from pyvision.errors import ConfigError

if TYPE_CHECKING:
    from pyvision.demo.serve import DemoOptions


def add_demo(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "demo",
        description="Serve a chat in the browser until interrupted. Its address is printed on standard output.",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", metavar="H", help="the address to listen on (default 127.0.0.1)")
    add("--port", type=port, default=7860, metavar="N", help="the port (default 7860; 0 for any free port)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="a model that users can choose; repeatable, the first is the default",
    )
    which.add_argument("--config", type=Path, metavar="FILE", help="a model configuration (JSON)")
    add(
        "--out",
        type=Path,
        default=Path("runs/demo"),
        metavar="DIR",
        help="the folder for recorded conversations (default: runs/demo)",
    )
    add("--at-once", type=count, default=4, metavar="N", help="questions answered in parallel (default 4)")
    add("--kernels", type=count, default=32, metavar="N", help="kernels open at a time (default 32)")
    add(
        "--idle",
        type=above_zero,
        default=1800.0,
        metavar="S",
        help="seconds of inactivity after which a kernel is closed, and the conversations of a visitor who has left "
        "are deleted (default 1800)",
    )
    add("--keep", action="store_true", help="keep the recorded conversations of visitors who have left")
    add(
        "--root-path",
        type=_root_path,
        default="",
        metavar="/PATH",
        help="the path under which a reverse proxy serves the demo",
    )
    add(
        "--auth-file",
        type=Path,
        metavar="FILE",
        help="require a login; the file has one NAME:PASSWORD per line",
    )
    add("--share", action="store_true", help="publish the demo through a public gradio address")
    parser.set_defaults(call=demo)


def demo(options: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    from pyvision.demo.serve import Demo

    served = Demo(_serving(options))
    try:
        print(served.url, flush=True)  # noqa: T201 - the result
        print("press Ctrl-C to stop", file=sys.stderr)  # noqa: T201
        served.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        served.close()
    return 0


def _root_path(text: str) -> str:
    if text and not text.startswith("/"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL path; a URL path begins with /")
    return text


def _serving(options: argparse.Namespace) -> DemoOptions:
    from pyvision.demo.serve import DemoOptions

    return DemoOptions(
        host=options.host,
        port=options.port,
        models=options.model or _default_models(options.config),
        config=options.config,
        out=options.out,
        at_once=options.at_once,
        kernels=options.kernels,
        idle_s=options.idle,
        keep=options.keep,
        prefix=options.root_path,
        people=_read_logins(options.auth_file) if options.auth_file else (),
        share=options.share,
    )


def _default_models(config: Path | None) -> list[str]:
    if config is not None:
        return []
    from pyvision.config.model_config import default_model

    return [default_model(environment())]


def _read_logins(file: Path) -> list[tuple[str, str]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"{file}: cannot be read ({error.strerror}); it needs one NAME:PASSWORD per line"
        ) from error
    pairs = [line.partition(":") for line in lines if line.strip()]
    if not pairs or not all(name and colon and password for name, colon, password in pairs):
        raise ConfigError(f"{file}: each line must be NAME:PASSWORD")
    return [(name, password) for name, _, password in pairs]
