"""Places on other versions of Linux: the kernels of distributions, in a virtual machine without hardware support.

The machine sees the files of this one, read-only (9p), so that the same interpreter runs on another kernel. cgroup v2
is set up as systemd does it: the program is in a group of its own, whose parent it may divide, also as user 1001.
AppArmor's profiles and its parser are those of Ubuntu's packages.
Not covered: the systems around these kernels (their libc, their bubblewrap), other processors. It is about ten times as
slow as a real machine.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "places"  # not in /tmp, which some places replace
_DEBIAN = "http://deb.debian.org/debian/pool/main/l/linux-signed-amd64/linux-image-"
_UBUNTU = "http://archive.ubuntu.com/ubuntu/pool/main/"
_PROGRAMS = ("qemu-system-x86_64", "dpkg-deb", "zstd", "busybox")
_MODULES = ("virtio_pci", "9pnet_virtio", "9p")
_FETCH_S, _RUN_S = 60.0, 900.0
_FOLDER_MODE, _PROGRAM_MODE, _FILE_MODE = 0o40755, 0o100755, 0o100644
# Linux starts it as the first process
_INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
for module in {modules}; do insmod /modules/$module.ko; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 system /new
umount /proc
mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t securityfs security /new/sys/kernel/security
mount -t cgroup2 cgroup /new/sys/fs/cgroup
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/pts /new/dev/shm
mount -t devpts devpts /new/dev/pts
mount -t tmpfs shm /new/dev/shm
mount -t tmpfs -o mode=1777 tmp /new/tmp
mount -t tmpfs run /new/run
mkdir /new/run/out /new/run/tools
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none out /new/run/out
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose tools /new/run/tools
exec switch_root /new /bin/sh /run/out/first
"""
_FIRST = """
PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd /sys/fs/cgroup
echo '+cpu +memory +pids' > cgroup.subtree_control
mkdir -p user.slice/program.scope
echo '+cpu +memory +pids' > user.slice/cgroup.subtree_control
chown -R 1001:1001 user.slice
echo $$ > user.slice/program.scope/cgroup.procs
{prepare}
{warm_up}
{commands}
sync
busybox poweroff -f
"""
# The first read of the libraries takes longer than a kernel may take to start
_WARM_UP = (
    f"{shlex.quote(sys.executable)} -c 'import IPython, ipykernel, matplotlib.pyplot, PIL.Image' 2> /dev/null"
)
# AppArmor as Ubuntu sets it up: its parser with its own libc, and what its package loads and switches on
APPARMOR = """
libraries=/run/tools/usr/lib/x86_64-linux-gnu
load() {
  $libraries/ld-linux-x86-64.so.2 --library-path $libraries /run/tools/sbin/apparmor_parser \\
    --base /run/tools/etc/apparmor.d --skip-cache --replace "$1"
}
load /run/tools/etc/apparmor.d/unprivileged_userns
echo 1 > /proc/sys/kernel/apparmor_restrict_unprivileged_userns
"""
OUR_PROFILE = """
{python} -m sandbox apparmor --print > /run/profile
load /run/profile
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The Linux of a distribution. packages: (address, SHA-256) of what holds it, its modules and its AppArmor."""

    name: str
    packages: tuple[tuple[str, str], ...]


class KernelError(Exception):
    """A kernel cannot be had, or did not start."""


KERNELS = (
    Kernel(
        "Debian 11",
        (
            (
                f"{_DEBIAN}5.10.0-32-amd64_5.10.223-1_amd64.deb",
                "86a6792f3a03ab15a643f385830cdaa921f15e3e9c8bf63aa55a9243c62fc797",
            ),
        ),
    ),
    Kernel(
        "Ubuntu 22.04",
        (
            (
                f"{_UBUNTU}l/linux-signed/linux-image-5.15.0-25-generic_5.15.0-25.25_amd64.deb",
                "ad56f8c442a54d4f5ff2dff010d00321d53e32b543f3a92f3ba4e042d20a71da",
            ),
            (
                f"{_UBUNTU}l/linux/linux-modules-5.15.0-25-generic_5.15.0-25.25_amd64.deb",
                "d0ba4087d9e1d497925b3481d3531fba6c2a852855f8019d73b0b1385aa4da1f",
            ),
        ),
    ),
    Kernel(
        "Debian 12",
        (
            (
                f"{_DEBIAN}6.1.0-50-amd64_6.1.176-1_amd64.deb",
                "7b5597492a0a65aee61985a492e6bcc3f2cde830072a0e3b3d8c7e1b90279bd3",
            ),
        ),
    ),
    Kernel(
        "Ubuntu 24.04",
        (
            (
                f"{_UBUNTU}l/linux-signed/linux-image-6.8.0-31-generic_6.8.0-31.31_amd64.deb",
                "fd2ed023c84163e62c73d3b7b613a9b004bd31e335641c23d42bd249e489fbe6",
            ),
            (
                f"{_UBUNTU}l/linux/linux-modules-6.8.0-31-generic_6.8.0-31.31_amd64.deb",
                "3f17f2c279257eb50e40da44390bdf8272c440ca078831c348773d1314b5c2fe",
            ),
            (
                f"{_UBUNTU}a/apparmor/apparmor_4.0.0-beta3-0ubuntu3_amd64.deb",
                "d783c4183840745b931b72a9df8c15d341f640efa6f3069e5935c1b6542ff840",
            ),
            (
                f"{_UBUNTU}a/apparmor/libapparmor1_4.0.0-beta3-0ubuntu3_amd64.deb",
                "2adee8d676a430ca2435461b5d536140f70dbf4268d8bb7bd21db15d4deb51b2",
            ),
            (
                f"{_UBUNTU}g/glibc/libc6_2.39-0ubuntu8_amd64.deb",
                "af36c7ac770770fe3d3c10e85d6bc538e76e57570ba7db7d397fb9f654783ef3",
            ),
        ),
    ),
    Kernel(
        "Debian 13",
        (
            (
                f"{_DEBIAN}6.12.107%2bdeb13-amd64_6.12.107-1_amd64.deb",
                "7794643cf4560de2a7e3b069e8ca8511ad2a568d652ea285f0fe051f79bc9e99",
            ),
        ),
    ),
)


def why_unusable() -> str:
    """What this machine lacks to run another kernel, or nothing."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    return f"{missing[0]} is missing: apt install qemu-system-x86 busybox-static zstd" if missing else ""


def run(
    name: str, prepare: str, commands: Sequence[Sequence[str]], environment: Mapping[str, str]
) -> list[subprocess.CompletedProcess[str]]:
    """Start a kernel, run a script as root, then the commands in the folder of this repository, one after the other.

    Raises KernelError.
    """
    kernel = next(each for each in KERNELS if each.name == name)
    tools = unpack(kernel, CACHE)
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        out = Path(folder, "out")
        out.mkdir()
        Path(folder, "initrd").write_bytes(build_archive(_find_modules(tools)))
        lines = [_command_line(number, words, environment) for number, words in enumerate(commands)]
        variables = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
        start = f"cd {shlex.quote(str(ROOT))} && export {variables}\n{prepare}" if prepare else ""
        (out / "first").write_text(_FIRST.format(prepare=start, warm_up=_WARM_UP, commands="\n".join(lines)))
        _start(tools, Path(folder))
        return [_read_result(out, number) for number in range(len(commands))]


def _command_line(number: int, words: Sequence[str], environment: Mapping[str, str]) -> str:
    variables = (f"{name}={value}" for name, value in environment.items())
    command = shlex.join(["env", "-i", *variables, *words])
    files = f"> /run/out/{number}.out 2> /run/out/{number}.err < /dev/null"
    return f"(cd {shlex.quote(str(ROOT))} && {command} {files}); echo $? > /run/out/{number}.status"


def _read_result(out: Path, number: int) -> subprocess.CompletedProcess[str]:
    try:
        status = int((out / f"{number}.status").read_text())
    except (OSError, ValueError):
        console = (out.parent / "console").read_text(errors="replace").strip().splitlines()
        raise KernelError(f"the machine ended before its command: {(console or [''])[-1][:200]}") from None
    texts = [(out / f"{number}.{kind}").read_text(errors="replace") for kind in ("out", "err")]
    return subprocess.CompletedProcess([], status, *texts)


def _start(tools: Path, folder: Path) -> None:
    shared = (("system", "/", True), ("tools", str(tools), True), ("out", str(folder / "out"), False))
    command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "4096"]
    command += ["-nodefaults", "-display", "none", "-no-reboot", "-serial", f"file:{folder / 'console'}"]
    command += ["-kernel", str(next((tools / "boot").glob("vmlinuz-*"))), "-initrd", str(folder / "initrd")]
    command += ["-append", "console=ttyS0 panic=-1 no_timer_check"]
    for tag, path, is_fixed in shared:
        rights = ",readonly=on,multidevs=remap" if is_fixed else ""
        command += ["-fsdev", f"local,id={tag},path={path},security_model=none{rights}"]
        command += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_RUN_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise KernelError(f"the machine ran for more than {_RUN_S:g} s") from error
    if done.returncode:
        raise KernelError((done.stderr.strip().splitlines() or [f"qemu: {done.returncode}"])[-1])


def unpack(kernel: Kernel, cache: Path) -> Path:
    """The folder with the files of its packages, which are fetched once. Raises KernelError."""
    folder = cache / kernel.name.replace(" ", "-")
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        for address, digest in kernel.packages:
            package = Path(temporary, "package.deb")
            package.write_bytes(_fetch(address, digest))
            subprocess.run(["dpkg-deb", "-x", str(package), f"{temporary}/files"], check=True)
        Path(temporary, "files").rename(folder)
    return folder


def _fetch(address: str, digest: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=_FETCH_S) as answer:
            content: bytes = answer.read()
    except OSError as error:
        raise KernelError(f"{address}: {error}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise KernelError(f"{address} is another file than the one that is expected")
    return content


def _find_modules(tools: Path) -> dict[str, bytes]:
    """The modules that the first process loads, in this order, with those that they need before them."""
    files = {path.name.partition(".ko")[0].replace("-", "_"): path for path in tools.rglob("*.ko*")}
    found: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in found or name not in files:  # it is part of the kernel itself
            return
        content = _decompress(files[name])
        needed = re.search(rb"\0depends=([^\0]*)\0", content)
        for each in needed[1].decode().split(",") if needed else ():
            add(each.replace("-", "_"))
        found[name] = content

    for name in _MODULES:
        add(name)
    return found


def _decompress(path: Path) -> bytes:
    match path.suffix:
        case ".xz":
            return lzma.decompress(path.read_bytes())
        case ".zst":
            return subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout
    return path.read_bytes()


def build_archive(modules: Mapping[str, bytes]) -> bytes:
    """The first file system of the machine, in the format of cpio ("newc")."""
    archive = io.BytesIO()
    for number, (name, mode, content) in enumerate(_members(modules), 1):
        ending = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(ending), 0)
        archive.write(b"070701" + b"".join(b"%08x" % field for field in fields) + ending)
        archive.write(b"\0" * (-archive.tell() % 4) + content)
        archive.write(b"\0" * (-archive.tell() % 4))
    return archive.getvalue()


def _members(modules: Mapping[str, bytes]) -> Iterator[tuple[str, int, bytes]]:
    for folder in ("bin", "dev", "modules", "new", "proc", "sys"):
        yield folder, _FOLDER_MODE, b""
    busybox = shutil.which("busybox")
    assert busybox is not None
    yield "bin/busybox", _PROGRAM_MODE, Path(busybox).read_bytes()
    for name, content in modules.items():
        yield f"modules/{name}.ko", _FILE_MODE, content
    yield "init", _PROGRAM_MODE, _INIT.format(modules=" ".join(modules)).encode()
    yield "TRAILER!!!", 0, b""
