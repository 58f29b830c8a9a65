"""`python -m sandbox COMMAND`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of argparse's usage dump."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    from sandbox.escape_tests import command
    from sandbox.isolation import apparmor
    from sandbox.jupyter import kernelspec

    parser = _Parser(prog="python -m sandbox", description="Isolated Jupyter kernels for untrusted Python.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, description, add_arguments, call in (
        ("check", "run known attacks on the sandbox of this machine", command.add_arguments, command.check),
        (
            "install",
            "add a Jupyter kernel that runs in containers",
            kernelspec.add_arguments,
            kernelspec.install,
        ),
        (
            "apparmor",
            "allow bubblewrap to create user namespaces on Ubuntu 23.10 and newer (as root)",
            apparmor.add_arguments,
            apparmor.install,
        ),
    ):
        added = commands.add_parser(
            name, help=description, description=f"{description[0].upper()}{description[1:]}."
        )
        add_arguments(added)
        added.set_defaults(call=call)
    options = parser.parse_args(arguments)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # so that sessions are ended and canaries removed
    try:
        return int(options.call(options))
    except KeyboardInterrupt:
        print("sandbox: interrupted", file=sys.stderr)  # noqa: T201
        return 130


if __name__ == "__main__":
    sys.exit(main())
