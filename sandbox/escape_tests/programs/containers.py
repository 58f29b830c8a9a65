"""The processes that hold a container, and what containers share with the host and with each other."""

# %% clone_parent
"""Make a child of the zygote instead of a child of its own, by clone(CLONE_PARENT).

layer: calls
plain: succeeds
"""

import ctypes
import os
import platform
import signal

assert platform.machine() in ("x86_64", "aarch64"), "another number"
libc = ctypes.CDLL(None, use_errno=True)
number = 56 if platform.machine() == "x86_64" else 220
pid = libc.syscall(number, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
if pid > 0:
    print(MARKER)

# %% helpers_limited
"""Find a process of the container that runs without the limits of the session.

layer: limits
plain: skipped, the processes of the machine are no concern of a test
"""

import os
import pathlib

own = pathlib.Path("/proc/self/limits").read_text().splitlines()
space = next(line for line in own if line.startswith("Max address space")).split()[3]
for process in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        lines = (process / "limits").read_text().splitlines()
    except OSError:
        continue
    limit = next(line for line in lines if line.startswith("Max address space")).split()[3]
    if limit == "unlimited" or int(limit) > int(space):
        print(MARKER)
        break

# %% helpers_rewritten
"""Open the memory of any process that is neither this one nor its child for writing.

layer: processes
plain: skipped, the processes of the machine are no concern of a test
"""

import os
import pathlib

for process in pathlib.Path("/proc").glob("[0-9]*"):
    if int(process.name) == os.getpid() or f"PPid:\t{os.getpid()}\n" in (process / "status").read_text():
        continue
    try:
        os.close(os.open(process / "mem", os.O_RDWR))
    except OSError:
        continue
    print(MARKER)
    break

# %% helpers_signalled
"""Stop any process that is neither this one nor its child.

layer: processes
plain: skipped, the processes of the machine are no concern of a test
"""

import os
import pathlib
import signal
import time

for process in pathlib.Path("/proc").glob("[0-9]*"):
    status = (process / "status").read_text()
    if int(process.name) == os.getpid() or f"PPid:\t{os.getpid()}\n" in status:
        continue
    try:
        os.kill(int(process.name), signal.SIGSTOP)
    except OSError:
        continue
    time.sleep(0.05)
    stopped = "State:\tT" in (process / "status").read_text()
    os.kill(int(process.name), signal.SIGCONT)
    if stopped:
        print(MARKER)
        break

# %% lease_of_a_system_file
"""Take a read lease on a file that the host also has: a program that opens it for writing has to wait.

layer: calls
plain: depends, on the owner of the files
"""

import fcntl
import glob
import sys

for path in (*glob.glob("/tmp/.matplotlib/*.json"), sys.executable, "/usr/bin/env"):
    with open(path, "rb") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError:
            continue
        print(MARKER)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        break

# %% lock_of_a_system_file
"""Lock a file that the host and other sessions also have.

layer: calls
plain: succeeds
"""

import fcntl

with open("/usr/bin/env", "rb") as file:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print(MARKER)
    fcntl.flock(file, fcntl.LOCK_UN)

# %% lock_of_a_system_file_by_description
"""Take an open file description lock, for reading, on a file that the host also has.

layer: calls
plain: succeeds
"""

import fcntl
import struct

with open("/usr/bin/env", "rb") as file:
    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
    print(MARKER)

# %% notified_of_a_system_folder
"""Be notified of what others do in a folder of the system.

layer: calls
plain: succeeds
"""

import fcntl
import os
import signal

signal.signal(signal.SIGIO, signal.SIG_IGN)
folder = os.open("/usr/bin", os.O_RDONLY)
try:
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    print(MARKER)
finally:
    os.close(folder)

# %% page_cache_by_mincore
"""Ask which pages of a file of the system others have read, by mincore.

layer: calls
plain: succeeds
"""

import ctypes
import mmap

libc = ctypes.CDLL(None, use_errno=True)
with open("/usr/bin/env", "rb") as file:
    mapped = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE, flags=mmap.MAP_PRIVATE)
here = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
if libc.mincore(ctypes.c_void_p(here), ctypes.c_size_t(4096), ctypes.create_string_buffer(1)) == 0:
    print(MARKER)

# %% page_cache_by_nowait
"""Ask whether others have read a file of the system, by a read that fails where it is not in the page cache.

layer: calls
plain: succeeds
"""

import errno
import os

file = os.open("/usr/bin/env", os.O_RDONLY)
try:
    os.preadv(file, [bytearray(16)], 0, os.RWF_NOWAIT)
    print(MARKER)
except BlockingIOError:
    print(MARKER)
finally:
    os.close(file)

# %% proc_of_the_machine
"""Read what the machine is doing from files of /proc that a container has no use for.

layer: mounts
plain: succeeds
"""

import pathlib

for name in (
    "interrupts",
    "locks",
    "diskstats",
    "modules",
    "vmstat",
    "zoneinfo",
    "sys/kernel/random/boot_id",
):
    path = pathlib.Path("/proc", name)
    try:
        said = path.read_text() if path.exists() else ""
    except OSError:
        continue
    if said.strip():
        print(MARKER)
        break

# %% counters_of_the_machine
"""Read how many files, inodes and groups the whole machine has, which tells what other sessions do.

layer: mounts
plain: succeeds
"""

import pathlib

for name in ("cgroups", "sys/fs/dentry-state", "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/inode-state"):
    try:
        if pathlib.Path("/proc", name).read_text().strip():
            print(MARKER)
            break
    except OSError:
        continue

# %% sync_of_the_machine
"""Have everything written that the whole machine has not yet written to its disks.

layer: calls
plain: succeeds
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
import platform

number = {"x86_64": 306, "aarch64": 267}[platform.machine()]
with open("/usr/bin/env", "rb") as file:
    if libc.syscall(number, file.fileno()) == 0:
        print(MARKER)
