"""Canaries: files, processes, servers and memory of the host that attacks aim at, and that detect being touched."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from sandbox.isolation.cleanup import temporary_folder
from sandbox.session import Closing

_SOCKET = "socket"  # of the listeners; the only file that belongs in the writable folder
_IPC_CREATE = 0o1000 | 0o2000  # IPC_CREAT | IPC_EXCL
_IPC_RMID = 0
_SEGMENT_BYTES = 4096


class Canary(Protocol):
    """One resource of the host that a cell must not touch."""

    target: dict[str, Any]
    """What a program knows about it."""

    def find_harm(self, marker: str) -> str | None:
        """How it was touched, or None; `marker` is what this attack writes or sends."""

    def close(self) -> None:
        """Remove it."""


class Canaries(Closing):
    """All canaries. A secret is `canary-` and 32 hexadecimal digits; a program gets only its SHA-256."""

    def __init__(self) -> None:
        self.neighbour_secret = _secret()
        self._secret = _secret()
        self._name = f"SANDBOX_CHECK_{secrets.token_hex(4).upper()}"
        self._planted = ExitStack()
        self._all: tuple[Canary, ...] = ()
        self._plant()

    @property
    def target(self) -> dict[str, Any]:
        """The value of TARGET in a program."""
        target = {
            "secret_name": self._name,
            "secret_sha256": _sha256(self._secret),
            "neighbour_secret_sha256": _sha256(self.neighbour_secret),
            "host_pid": os.getpid(),
        }
        for canary in self._all:
            target |= canary.target
        return target

    def find_secret(self, text: str) -> str | None:
        """Whether the text contains a secret of the host or of the neighbour."""
        known = (self._secret, self.neighbour_secret, self._key.value)
        return "it printed a secret" if any(secret in text for secret in known) else None

    def find_harm(self, marker: str) -> str | None:
        """How the host was touched, or None. If it was, every canary is planted again."""
        found = next((harm for canary in self._all if (harm := canary.find_harm(marker))), None)
        if found is not None:
            self.close()
            self._plant()
        return found

    def close(self) -> None:
        """Remove them. May be called twice."""
        self._planted.close()

    def _plant(self) -> None:
        os.environ[self._name] = self._secret
        self._planted.callback(os.environ.pop, self._name)
        planted: list[Canary] = []
        for plant in (Files, SystemVSegment, PosixSegment, Victims):
            planted.append(plant(self._secret))
            self._planted.callback(planted[-1].close)
        self._key = Key()
        self._planted.callback(self._key.close)
        listeners = CanaryServers(Path(planted[0].target["outside"]))
        self._planted.callback(listeners.close)
        self._all = (*planted, self._key, listeners)


class Files:
    """Two files with a secret, and a folder that every user may write to."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        temp, name = temporary_folder(), f"canary-{secrets.token_hex(6)}"
        self._secret_file = temp / f"{name}.txt"
        self._home_file = home_folder() / f".{name}.txt"
        self._outside = temp / name
        self._outside.mkdir()
        self._outside.chmod(0o777)
        for path in (self._secret_file, self._home_file):
            path.write_text(secret)
            path.chmod(0o666)
        self.target: dict[str, Any] = {
            "secret_file": str(self._secret_file),
            "home_file": str(self._home_file),
            "outside": str(self._outside),
        }

    def find_harm(self, marker: str) -> str | None:
        """Whether a file was changed, or one was made outside."""
        for path in (self._secret_file, self._home_file):
            if not path.is_file() or path.read_text(errors="replace") != self._secret:
                return f"{path} was changed"
        if not self._outside.is_dir():
            return f"{self._outside} was removed"
        made = [path for path in self._outside.iterdir() if path.name != _SOCKET]
        return f"{made[0]} was made" if made else None

    def close(self) -> None:
        """Remove them."""
        self._secret_file.unlink(missing_ok=True)
        self._home_file.unlink(missing_ok=True)
        shutil.rmtree(self._outside, ignore_errors=True)


class Key:
    """A made-up API key, in the environment of the host and in a file of its home folder."""

    def __init__(self) -> None:
        mark = secrets.token_hex(4)
        self.value = f"sk-canary-{secrets.token_hex(16)}"
        self._name = f"SANDBOX_CHECK_{mark.upper()}_API_KEY"
        self._file = home_folder() / f".canary-{mark}.env"
        self._file.write_text(f"{self._name}={self.value}\n")
        os.environ[self._name] = self.value
        self.target: dict[str, Any] = {"key_name": self._name, "key_file": str(self._file)}

    def find_harm(self, marker: str) -> str | None:
        """Whether it was removed; `Canaries.find_secret` detects that it was printed."""
        return None if self._file.exists() else f"{self._file} was removed"

    def close(self) -> None:
        """Remove it."""
        os.environ.pop(self._name, None)
        self._file.unlink(missing_ok=True)


class Victims:
    """Two processes of the host: one sleeps and is to be attacked, the other one is stopped."""

    def __init__(self, secret: str) -> None:
        self._victim = _start_sleep({"CANARY": secret})
        self._stopped = _start_sleep({})
        self._stopped.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._stopped.pid, os.WSTOPPED)
        self._before = _settings(self._victim.pid)
        self.target: dict[str, Any] = {"victim_pid": self._victim.pid}

    def find_harm(self, marker: str) -> str | None:
        """Whether the victim was ended, stopped or traced, its settings changed, or a signal sent to every process."""
        state = _state(self._victim.pid)
        if state not in ("S", "R", "D"):
            return f"process {self._victim.pid} of the host was ended, stopped or traced ({state})"
        if _settings(self._victim.pid) != self._before:
            return f"the settings of process {self._victim.pid} of the host were changed"
        if _state(self._stopped.pid) != "T":
            return "every process of the host was sent a signal"
        return None

    def close(self) -> None:
        """End them."""
        for process in (self._victim, self._stopped):
            process.kill()
            process.wait()


class CanaryServers:
    """Servers of every family that a cell could try to reach. Linux queues what clients send until `find_harm`."""

    def __init__(self, folder: Path) -> None:
        abstract = f"sandbox-check-{secrets.token_hex(6)}"
        path = folder / _SOCKET
        self._servers = {
            "tcp": socket.create_server(("127.0.0.1", 0)),
            "abstract": _listen_unix(f"\0{abstract}"),
            "unix": _listen_unix(str(path)),
        }
        with contextlib.suppress(OSError):  # a machine without IPv6
            self._servers["tcp6"] = socket.create_server(("::1", 0), family=socket.AF_INET6)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        for server in (*self._servers.values(), self._udp):
            server.settimeout(0)
        path.chmod(0o777)
        self.target: dict[str, Any] = {
            "tcp": self._servers["tcp"].getsockname(),
            "tcp6": self._servers["tcp6"].getsockname()[:2] if "tcp6" in self._servers else None,
            "udp": self._udp.getsockname(),
            "abstract": abstract,
            "unix": str(path),
        }

    def find_harm(self, marker: str) -> str | None:
        """Whether a server received the marker."""
        for name, server in self._servers.items():
            if any(marker.encode() in sent for sent in _read_connections(server)):
                return f"the {name} server of the host was reached"
        if any(marker.encode() in packet for packet in _packets(self._udp)):
            return "the udp server of the host was reached"
        return None

    def close(self) -> None:
        """Stop listening."""
        for server in (*self._servers.values(), self._udp):
            server.close()


class SystemVSegment:
    """A shared memory segment of System V that every user may read and write."""

    def __init__(self, secret: str) -> None:
        """Raises OSError."""
        self._secret = secret.encode()
        key = secrets.randbelow(2**30) + 1
        self._number = _call_libc("shmget", key, _SEGMENT_BYTES, _IPC_CREATE | 0o666)
        self._address = _call_libc("shmat", self._number, None, 0)
        ctypes.memmove(self._address, self._secret, len(self._secret))
        self.target: dict[str, Any] = {"shm_key": key}

    def find_harm(self, marker: str) -> str | None:
        """Whether its content was changed."""
        changed = ctypes.string_at(self._address, len(self._secret)) != self._secret
        return "a System V segment of the host was changed" if changed else None

    def close(self) -> None:
        """Remove it."""
        _libc().shmdt(ctypes.c_void_p(self._address))
        _libc().shmctl(self._number, _IPC_RMID, None)


class PosixSegment:
    """A POSIX shared memory segment that every user may read and write."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._path = Path("/dev/shm", f"sandbox-check-{secrets.token_hex(6)}")
        self._path.write_text(secret)
        self._path.chmod(0o666)
        self.target: dict[str, Any] = {"shm_name": f"/{self._path.name}"}

    def find_harm(self, marker: str) -> str | None:
        """Whether its content was changed or it was removed."""
        is_whole = self._path.exists() and self._path.read_text(errors="replace") == self._secret
        return None if is_whole else "a POSIX segment of the host was changed"

    def close(self) -> None:
        """Remove it."""
        self._path.unlink(missing_ok=True)


def home_folder() -> Path:
    """The home of this user, or the temporary folder for one whose home cannot be written."""
    home = Path.home()
    return home if os.access(home, os.W_OK) else Path(tempfile.gettempdir())


def _secret() -> str:
    return f"canary-{secrets.token_hex(16)}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _start_sleep(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sleep", "3600"],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _state(pid: int) -> str:
    return _stat(pid)[0]


def _settings(pid: int) -> tuple[str, ...]:
    """Its priority, its scheduling and its limits."""
    stat = _stat(pid)
    return stat[16], stat[38], Path(f"/proc/{pid}/limits").read_text(), str(sorted(os.sched_getaffinity(pid)))


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the process name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def _listen_unix(address: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    return server


def _read_connections(server: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(BlockingIOError):  # no more clients
        while True:
            client, _ = server.accept()
            with client, contextlib.suppress(OSError):  # it sent nothing, or has disconnected
                client.settimeout(0.2)
                yield client.recv(65_536)


def _packets(server: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(BlockingIOError):
        while True:
            yield server.recv(65_536)


def _call_libc(function: str, *arguments: Any) -> int:
    result = getattr(_libc(), function)(*arguments)
    if result in (-1, ctypes.c_void_p(-1).value):
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")
    return int(result)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    return libc
