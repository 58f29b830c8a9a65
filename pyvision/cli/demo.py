"""`pyvision demo`: the chat in a browser."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "demo",
        description="Serves a chat on this machine until it is interrupted. Its address is printed on standard output.",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", metavar="H", help="the address to listen on (default 127.0.0.1)")
    add("--port", type=int, default=7860, metavar="N", help="(default 7860; 0 is any free one)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="a model on offer; repeat it for more, the first is the default",
    )
    which.add_argument("--config", type=Path, metavar="FILE", help="a model configuration file (JSON)")
    add("--out", type=Path, default=Path("runs/demo"), metavar="DIR", help="where conversations are kept")
    add("--at-once", type=int, default=4, metavar="N", help="questions at the same time (default 4)")
    add("--kernels", type=int, default=32, metavar="N", help="kernels open at the same time (default 32)")
    add(
        "--idle",
        type=float,
        default=1800.0,
        metavar="S",
        help="silence after which a kernel ends (default 1800)",
    )
    add("--root-path", default="", metavar="/PATH", help="the path under which a proxy shows it")
    add("--auth-file", type=Path, metavar="FILE", help="a line NAME:PASSWORD for each person who may come in")
    add("--share", action="store_true", help="let gradio publish it under an address of theirs")
    parser.set_defaults(call=demo)


def demo(options: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    from pyvision.demo.serve import Demo, Serving

    served = Demo(
        Serving(
            host=options.host,
            port=options.port,
            models=options.model or _model_of_the_environment(options.config),
            config=options.config,
            out=options.out,
            at_once=options.at_once,
            kernels=options.kernels,
            idle_s=options.idle,
            prefix=options.root_path,
            people=_people(options.auth_file) if options.auth_file else (),
            share=options.share,
        )
    )
    try:
        print(served.url, flush=True)  # noqa: T201 - what the command is for
        print("Ctrl-C ends it", file=sys.stderr)  # noqa: T201
        served.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        served.close()
    return 0


def _model_of_the_environment(config: Path | None) -> list[str]:
    if config is not None:
        return []
    from pyvision.config.model_config import default_model

    return [default_model(os.environ)]


def _people(file: Path) -> list[tuple[str, str]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"{file}: cannot be read ({error.strerror}); give a line NAME:PASSWORD each"
        ) from error
    pairs = [line.partition(":") for line in lines if line.strip()]
    if not pairs or not all(name and colon and word for name, colon, word in pairs):
        raise ConfigError(f"{file}: each line is NAME:PASSWORD")
    return [(name, word) for name, _, word in pairs]
