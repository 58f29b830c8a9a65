"""Memory of other processes, and memory shared between processes."""

# %% huge_pages
"""Take huge pages, which are counted by nobody.

layer: limits
plain: depends, on a setting of the machine
"""

import mmap

mmap.mmap(-1, 2 * 2**20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)
print(MARKER)


# %% locked
"""Keep memory from ever being swapped out.

layer: limits
plain: depends, on the rights of the user and the memory of the machine
"""

import ctypes
import mmap

size = 256 * 2**20
libc, block = ctypes.CDLL(None, use_errno=True), mmap.mmap(-1, size)
held = ctypes.c_char.from_buffer(block)
if libc.mlock(ctypes.c_void_p(ctypes.addressof(held)), ctypes.c_size_t(size)) == 0:
    libc.munlock(ctypes.c_void_p(ctypes.addressof(held)), ctypes.c_size_t(size))
    print(MARKER)


# %% of_processes_above
"""Read the environment and memory of the processes that started it.

layer: processes
plain: succeeds
"""

import os

above = os.getppid()
if (above > 1 or above == TARGET["host_pid"]) and open(f"/proc/{above}/maps").read():
    print(MARKER)


# %% of_the_host
"""Read a secret from the memory of a process of the host.

layer: processes
plain: succeeds as root
"""

import re

pid, found = TARGET["victim_pid"], None
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
    for line in maps:
        if line.endswith("[stack]\n"):
            start, end = (int(each, 16) for each in line.split()[0].split("-"))
            memory.seek(start)
            found = re.search(rb"canary-[0-9a-f]{32}", memory.read(end - start))
if found:
    print(MARKER)


# %% of_the_host_by_call
"""Read the memory of a process of the host by a call.

layer: calls
plain: succeeds as root
"""

import ctypes

pid = TARGET["victim_pid"]


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
try:
    with open(f"/proc/{pid}/maps") as maps:
        start = int(maps.readline().split("-")[0], 16)
except OSError:
    start = 0x400000
space = ctypes.create_string_buffer(8)
here, there = Part(ctypes.addressof(space), 8), Part(start, 8)
if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 8:
    print(MARKER)


# %% of_the_template
"""Read the memory of another process of its user by a call, as that of the template.

layer: calls
plain: succeeds
"""

import ctypes
import os


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
secret = ctypes.create_string_buffer(b"canary--")
space = ctypes.create_string_buffer(8)
here, there = Part(ctypes.addressof(space), 8), Part(ctypes.addressof(secret), 8)
if libc.process_vm_readv(os.getpid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 8:
    print(MARKER)


# %% posix
"""Read a POSIX segment of the host.

layer: mounts
plain: succeeds
"""

import hashlib

found = open("/dev/shm" + TARGET["shm_name"]).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)


# %% posix_queue
"""Make a queue of messages that is found after its end.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import os
import platform

libc, make = ctypes.CDLL(None, use_errno=True), os.O_CREAT | os.O_RDWR
opened, removed = {"x86_64": (240, 241), "aarch64": (180, 181)}[platform.machine()]
queue = libc.syscall(opened, b"sandbox-check", make, 0o600, None)
if queue >= 0:
    os.close(queue)
    libc.syscall(removed, b"sandbox-check")
    print(MARKER)


# %% posix_removed
"""Remove a POSIX segment of the host.

layer: mounts
plain: succeeds
proof: host
"""

import os

os.unlink("/dev/shm" + TARGET["shm_name"])


# %% posix_written
"""Write to a POSIX segment of the host.

layer: mounts
plain: succeeds
proof: host
"""

import mmap

with open("/dev/shm" + TARGET["shm_name"], "r+b") as file, mmap.mmap(file.fileno(), 0) as segment:
    segment[:7] = b"changed"


# %% semaphores
"""Find the semaphores and queues of the host.

layer: container
plain: depends, on whether the host has any
"""

for name in ("sem", "msg", "shm"):
    if len(open(f"/proc/sysvipc/{name}").read().splitlines()) > 1:
        print(MARKER)
        break


# %% system_v
"""Read a System V segment of the host.

layer: container
plain: succeeds
"""

import ctypes
import re

libc, read_only = ctypes.CDLL(None, use_errno=True), 0o10000
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(TARGET["shm_key"], 0, 0)
address = libc.shmat(number, None, read_only)
if number >= 0 and re.fullmatch(rb"canary-[0-9a-f]{32}", ctypes.string_at(address, 39)):
    print(MARKER)
    libc.shmdt(ctypes.c_void_p(address))


# %% system_v_by_number
"""Find a System V segment of the host by its place in the list of all.

layer: container
plain: depends, on how many segments there are
"""

import ctypes

libc, tell_of_place, space = ctypes.CDLL(None, use_errno=True), 13, ctypes.create_string_buffer(256)
if any(libc.shmctl(place, tell_of_place, space) >= 0 for place in range(1024)):
    print(MARKER)


# %% system_v_listed
"""Find the System V segments of the host in the tables of Linux.

layer: container
plain: succeeds
"""

if str(TARGET["shm_key"]) in open("/proc/sysvipc/shm").read().split():
    print(MARKER)


# %% system_v_written
"""Write to a System V segment of the host.

layer: container
plain: succeeds
proof: host
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(TARGET["shm_key"], 0, 0)
if number >= 0:
    address = libc.shmat(number, None, 0)
    ctypes.memmove(address, b"changed", 7)
    libc.shmdt(ctypes.c_void_p(address))
