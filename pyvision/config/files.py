"""Files and folders: where data lies, reading and writing whole files, and OSErrors as RunFolderError."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyvision.errors import ConfigError, RunFolderError, reason

if TYPE_CHECKING:
    from pydantic import TypeAdapter

KEYS_FILE = "keys.json"  # in the user's folder
_WAY_OUT = "choose another --out, or make room there"
_MOST_BYTES = 4 * 2**20  # of a file of settings
_MOST_TRUSTED_BYTES = 100_000
_PACKAGE = Path(__file__).resolve().parents[1]
_DISTRIBUTIONS = ("pyvision-agent", "pyvision-minimal", "pyvision")  # the last: its name before 0.2


def package_version() -> str:
    """The version of the distribution that brought this package."""
    from importlib.metadata import PackageNotFoundError, version

    for name in _DISTRIBUTIONS:
        with suppress(PackageNotFoundError):
            return version(name)
    raise PackageNotFoundError(_DISTRIBUTIONS[0])


@cache
def data_folder(kind: Literal["prompts", "api_configs", "examples"]) -> Path:
    """Where the files of this kind lie: beside the package in a checkout, inside it when installed."""
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


@cache
def schema_of(kind: type[Any]) -> TypeAdapter[Any]:
    """What checks and reads values of this class; kept, because building it takes longer than reading a file."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def config_folder() -> Path | None:
    """The user's folder of settings and keys; None if no file may be read (PYVISION_CONFIG=none)."""
    own = os.environ.get("PYVISION_CONFIG", "")
    if own == "none":
        return None
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(own) if own else Path(home) / "pyvision"


def read_settings(path: Path) -> bytes:
    """The bytes of a small file that a user wrote. Raises OSError, and ConfigError for a large one (/dev/zero)."""
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path}: is larger than {_MOST_BYTES:,} bytes; give a file of settings")
    return data


def read_trusted(file: Path) -> str | None:
    """The text of a file; None if there is none. Raises ConfigError for one that others could have written."""
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_uid not in (os.geteuid(), 0) or status.st_mode & stat.S_IWOTH:
                raise ConfigError(
                    f"{file}: another user can change this file; remove it, or run chown and chmod o-w"
                )
            data = opened.read(_MOST_TRUSTED_BYTES + 1)
        if len(data) > _MOST_TRUSTED_BYTES:
            raise ConfigError(f"{file}: larger than {_MOST_TRUSTED_BYTES:,} bytes; shorten it")
        return data.decode()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read ({reason(error)})") from error


def write_atomic(path: Path, data: bytes, *, is_synced: bool = True) -> None:
    """Write the file whole: a crash leaves the old file or the new one, never a part. Raises OSError.

    is_synced: holds for a power failure too; without it, only for a process that is killed.
    """
    with replace_atomic(path) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        if is_synced and part is not path:
            os.fsync(file.fileno())


@contextmanager
def replace_atomic(path: Path) -> Iterator[Path]:
    """A new file to be written in this block, which then replaces `path`; nothing is left of it after an error.

    Two writers of the same file do not disturb each other: the last one wins. A link stays, and what it leads to is
    replaced. A device or a pipe, such as /dev/null or /dev/stdout, is never replaced: it is written to itself.
    """
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        with suppress(OSError):  # it may not exist
            part.unlink()
        raise


def write_file(path: Path, data: bytes, way_out: str = "choose another place with --out") -> None:
    """Write a file atomically, replacing an existing one. Raises RunFolderError."""
    with explain_os_errors(path, way_out):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)


@contextmanager
def explain_os_errors(path: Path, way_out: str = _WAY_OUT) -> Iterator[None]:
    """Turn the OSError of a path in this block into a RunFolderError that names the path and the way out."""
    if "\0" in str(path):
        raise RunFolderError(f"{str(path)!r}: this is not a valid file name; choose another --out")
    try:
        yield
    except OSError as error:
        raise run_folder_error(path, error, way_out) from error


def run_folder_error(path: Path, error: OSError, way_out: str = _WAY_OUT) -> RunFolderError:
    """The RunFolderError for an OSError, which names the path and the way out."""
    return RunFolderError(f"{str(path)!r}: {error.strerror or 'cannot be written'}; {way_out}")
