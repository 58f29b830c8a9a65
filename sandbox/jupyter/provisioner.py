"""The kernel provisioner by which JupyterLab, nbclient, nbconvert and papermill run kernels in containers.

Only jupyter_client loads it, by the entry point that `kernel.json` names; a Sandbox never does.

Covered: the same containers as those of a Sandbox (isolation/bubblewrap.py), with these fields of Policy:
isolation, python, preload, modules, start_timeout_s, memory_bytes, processes, cpus, open_files, file_bytes,
disk_bytes, disk_files and figure_pixels. Not covered: how long a cell runs and how much it prints, which are the
client's to limit; what a browser does with the HTML and JavaScript of an output; the files beside a notebook, which its
kernel cannot see.
"""

from __future__ import annotations

import asyncio
import atexit
import shutil
import threading
from pathlib import Path
from typing import Any

# A provisioner subclasses a class of jupyter_client, which has already loaded these modules.
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase
from traitlets import Dict

from sandbox.isolation.processes import send_signal
from sandbox.jupyter.kernelspec import policy_from
from sandbox.policy import Policy
from sandbox.runtime.engine import Engine
from sandbox.runtime.kernel_handle import KernelHandle

_CHANNELS = ("shell", "control", "iopub", "stdin", "hb")
_POLL_S = 0.02


class SandboxProvisioner(KernelProvisionerBase):
    """One kernel in its container; after a restart another container, under the same connection."""

    policy: Any = Dict(help="Fields of sandbox.Policy").tag(config=True)

    _engine: Engine | None = None
    _folder: Path | None = None
    _handle: KernelHandle | None = None

    @property
    def has_process(self) -> bool:
        return self._handle is not None

    async def pre_launch(self, **options: Any) -> dict[str, Any]:
        """Choose the paths of the sockets and write the connection file. Raises SandboxError."""
        if self._engine is None:
            self._engine = await asyncio.to_thread(ENGINES.get_or_start, policy_from(self.policy))
        manager: Any = self.parent
        if self._folder is None:
            self._folder = self._engine.client_folder()
            manager.transport, manager.ip = "ipc", str(self._folder / "s")
        manager.write_connection_file()
        self.connection_info = manager.get_connection_info()
        command = manager.format_kernel_cmd(extra_arguments=options.pop("extra_arguments", []))
        return await super().pre_launch(cmd=command, **options)

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Start a kernel in a new container. The command and its environment are not used."""
        assert self._engine is not None
        connection: dict[str, Any] = dict(self.connection_info)
        paths = {name: Path(f"{connection['ip']}-{connection[f'{name}_port']}") for name in _CHANNELS}
        key: bytes = connection["key"]
        self._handle = await asyncio.to_thread(self._engine.start_for_client, paths, key.decode())
        return self.connection_info

    async def poll(self) -> int | None:
        """None while it runs, then 0: only the parent, which is not this process, can read the exit status."""
        return None if self._handle is not None and self._handle.container.is_alive() else 0

    async def wait(self) -> int | None:
        while await self.poll() is None:
            await asyncio.sleep(_POLL_S)
        await self._close_handle()
        return 0

    async def send_signal(self, signum: int) -> None:
        """Signal the kernel alone: `kill` also ends the other processes in its container."""
        if self._handle is not None and self._handle.container.is_alive():
            send_signal(self._handle.container.kernel, signum)

    async def kill(self, restart: bool = False) -> None:  # noqa: FBT001, FBT002 - jupyter_client's
        if self._handle is not None:
            self._handle.container.kill()

    async def terminate(self, restart: bool = False) -> None:  # noqa: FBT001, FBT002
        """Kill it: the kernel was already asked to shut down, and a container has nothing to save."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:  # noqa: FBT001, FBT002
        await self._close_handle()
        if self._folder is not None and not restart:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    async def _close_handle(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            await asyncio.to_thread(handle.close)


class Engines:
    """One engine for each policy, shared by the provisioners of this process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Policy, Engine] = {}

    def get_or_start(self, policy: Policy) -> Engine:
        with self._lock:
            if not self._running:
                atexit.register(self.close)
            if policy not in self._running:
                self._running[policy] = Engine(policy)
            return self._running[policy]

    def close(self) -> None:
        """End the engines and every remaining kernel. Also called at exit."""
        atexit.unregister(self.close)
        with self._lock:
            while self._running:
                self._running.popitem()[1].close()


ENGINES = Engines()
