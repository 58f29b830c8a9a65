"""`python -m sandbox install`: add a Jupyter kernel that runs notebooks in containers."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from sandbox.policy import Policy

PROVISIONER = "sandbox"  # the name of the entry point in pyproject.toml
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# The command of clients that do not support provisioners.
_UNSUPPORTED_CLIENT = (
    "raise SystemExit('this kernel needs jupyter_client 7 or newer, with the sandbox package beside it')"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="install for this user")
    where.add_argument(
        "--sys-prefix", action="store_true", help="install for this Python environment (the default)"
    )
    where.add_argument("--prefix", type=Path, metavar="P", help="install below P/share/jupyter")
    parser.add_argument("--name", default="sandbox", help="the name of the kernel (default: %(default)s)")
    parser.add_argument(
        "--display-name", default="Python (sandboxed)", metavar="TEXT", help="the name in menus"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a field of Policy, as JSON or text"
    )
    parser.add_argument("--remove", action="store_true", help="remove the kernel")


def install(arguments: argparse.Namespace) -> int:
    """Install or remove the kernelspec and print its folder. Returns 2 if the arguments or the folder are invalid."""
    try:
        folder = _folder(arguments)
        if arguments.remove:
            _remove(folder)
            print(f"removed {folder}")  # noqa: T201 - a command
        else:
            _write(folder, kernel_json(arguments.display_name, _settings(arguments.set)))
            print(f"installed {folder}")  # noqa: T201
    except (ValueError, OSError) as error:
        print(f"sandbox install: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def kernel_json(display_name: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The content of kernel.json. By default cells run in the Python that installs it."""
    settings = {"python": sys.executable, **policy}
    policy_from(settings)
    provisioner = {"provisioner_name": PROVISIONER, "config": {"policy": settings}}
    return {
        "argv": [sys.executable, "-c", _UNSUPPORTED_CLIENT, "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "interrupt_mode": "message",
        "metadata": {"debugger": False, "kernel_provisioner": provisioner},
    }


def policy_from(settings: Mapping[str, Any]) -> Policy:
    """The policy with these fields. Raises ValueError for an unknown field or a wrong type."""
    from pydantic import TypeAdapter, ValidationError

    known = [field.name for field in fields(Policy)]
    for name in settings:
        if name not in known:
            raise ValueError(f"unknown field {name!r} of Policy; known are {', '.join(known)}")
    try:
        return TypeAdapter(Policy).validate_python(dict(settings))
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:
            raise ValueError(str(first["ctx"]["error"])) from error  # the message of Policy
        raise ValueError(f"Policy.{first['loc'][0]} is {first['input']!r}: {first['msg']}") from error


def _settings(pairs: Iterable[str]) -> dict[str, Any]:
    settings = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise ValueError(f"--set {pair}: write KEY=VALUE, for instance memory_bytes=1073741824")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def _folder(arguments: argparse.Namespace) -> Path:
    if not _NAME.fullmatch(arguments.name):
        raise ValueError(f"--name {arguments.name!r}: use letters, digits, '.', '_' and '-'")
    if not arguments.user:
        kernels = (arguments.prefix or Path(sys.prefix)).absolute() / "share/jupyter/kernels"
    else:
        from jupyter_client.kernelspec import KernelSpecManager

        kernels = Path(KernelSpecManager().user_kernel_dir)
    return Path(kernels, arguments.name.lower())  # Jupyter looks for them in lower case


def _write(folder: Path, specification: Mapping[str, Any]) -> None:
    if folder.exists() and not _is_ours(folder):
        raise ValueError(f"{folder} is another kernel's; choose another --name")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.json").write_text(json.dumps(specification, indent=1) + "\n", encoding="utf-8")


def _remove(folder: Path) -> None:
    if not _is_ours(folder):
        raise ValueError(f"{folder} holds no sandboxed kernel; see `jupyter kernelspec list`")
    shutil.rmtree(folder)


def _is_ours(folder: Path) -> bool:
    """Whether a kernel of this package is installed there."""
    path = folder / "kernel.json"
    if not path.is_file():
        return False
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return bool(found["metadata"]["kernel_provisioner"]["provisioner_name"] == PROVISIONER)
    except (ValueError, KeyError, TypeError):
        return False
