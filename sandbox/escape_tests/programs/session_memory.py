"""Take more memory than a session has, where no single process shows it."""

# %% children_that_cannot_be_dumped
"""Take more memory than a session has by children that forbid others to look at them.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import ctypes
import os
import resource
import signal
import time

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
share = limit // 4
ready, tell = os.pipe()
children = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        data = bytearray(share)
        data[::4096] = b"x" * len(data[::4096])
        os.write(tell, b"x")
        signal.alarm(10)
        signal.pause()
    children.append(pid)
os.set_blocking(ready, False)
end, held, ended = time.monotonic() + 7, b"", False
while time.monotonic() < end and len(held) < 6 and not ended:
    ended = any(os.waitpid(pid, os.WNOHANG)[0] for pid in children)
    try:
        held += os.read(ready, 6)
    except BlockingIOError:
        time.sleep(0.05)
time.sleep(0.5)
if len(held) == 6 and not ended and not any(os.waitpid(pid, os.WNOHANG)[0] for pid in children):
    print(MARKER)


# %% children_whose_first_thread_has_ended
"""Take more memory than a session has by children of which only a second thread is left.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import ctypes
import os
import platform
import resource
import signal
import threading
import time

EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]
limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
share = limit // 4
ready, tell = os.pipe()


def hold():
    """Touch it, and stay."""
    data = bytearray(share)
    data[::4096] = b"x" * len(data[::4096])
    os.write(tell, b"x")
    signal.alarm(10)
    time.sleep(20)
    os._exit(len(data) and 1)


children = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall(EXIT, 0)
    children.append(pid)
os.set_blocking(ready, False)
end, held, ended = time.monotonic() + 7, b"", False
while time.monotonic() < end and len(held) < 6 and not ended:
    ended = any(os.waitpid(pid, os.WNOHANG)[0] for pid in children)
    try:
        held += os.read(ready, 6)
    except BlockingIOError:
        time.sleep(0.05)
time.sleep(0.5)
if len(held) == 6 and not ended and not any(os.waitpid(pid, os.WNOHANG)[0] for pid in children):
    print(MARKER)


# %% files_beside_a_heap
"""Take more memory than a session has, a part of it in files in /tmp that are deleted, the rest by two processes.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import os
import resource
import signal
import tempfile
import time

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
files, written = [], 0
try:
    while written < 480 * 2**20:
        if written % (160 * 2**20) == 0:
            files.append(tempfile.TemporaryFile(buffering=0))
        written += files[-1].write(bytes(16 * 2**20))
except OSError:
    pass
share = (limit * 5 // 4 - written) // 2
child = os.fork()
data = bytearray(share)
data[::4096] = b"x" * len(data[::4096])
if child == 0:
    signal.alarm(15)
    signal.pause()
time.sleep(2)
if os.waitpid(child, os.WNOHANG)[0] == 0:
    print(MARKER)
    os.kill(child, signal.SIGKILL)


# %% pages_in_pipes
"""Take more memory than a session has in large pages that only pipes hold, by one byte of each.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import ctypes
import mmap
import os
import resource

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
LARGE = 2 * 2**20
libc = ctypes.CDLL(None, use_errno=True)


class Vector(ctypes.Structure):
    """struct iovec"""

    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


held, pipes = 0, []
while held < limit * 5 // 4 and len(pipes) < 200:
    pipes.append(os.pipe())
    for _ in range(16):
        memory = mmap.mmap(-1, 2 * LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(mmap.MADV_HUGEPAGE)
        first = ctypes.c_char.from_buffer(memory)
        start = -(-ctypes.addressof(first) // LARGE) * LARGE
        ctypes.memset(start, 1, LARGE)
        sent = libc.vmsplice(pipes[-1][1], ctypes.byref(Vector(start, 1)), 1, 0)
        del first
        memory.close()
        if sent != 1:
            raise OSError(ctypes.get_errno(), "vmsplice")
        held += LARGE
if held >= limit * 5 // 4:
    print(MARKER)


# %% relay
"""Take more memory than a session has by three processes, each of which hands its own to a child and ends, again and again.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import os
import resource
import signal
import time

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
piece = limit // 14
ready, tell = os.pipe()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        signal.alarm(15)
        data = bytearray(6 * piece)
        for start in range(0, len(data), piece):
            part = slice(start, start + piece, 4096)
            data[part] = b"x" * len(data[part])
            if os.fork():
                os._exit(0)
        os.write(tell, b"x")
        signal.alarm(5)
        signal.pause()
os.set_blocking(ready, False)
end, held = time.monotonic() + 8, b""
while time.monotonic() < end and len(held) < 3:
    try:
        held += os.read(ready, 3)
    except BlockingIOError:
        time.sleep(0.05)
if len(held) == 3:
    print(MARKER)


# %% shared_mappings
"""Take more memory than a session has in shared mappings of which all but one page is unmapped.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import ctypes
import mmap
import resource

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
SIZE = 64 * 2**20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
held = 0
while held < limit * 5 // 4:
    start = libc.mmap(None, SIZE, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0)
    if start == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    ctypes.memset(start, 1, SIZE)
    libc.munmap(start + mmap.PAGESIZE, SIZE - mmap.PAGESIZE)
    held += SIZE
print(MARKER)


# %% shared_mappings_of_a_device
"""Take more memory than a session has in shared mappings of /dev/zero of which all but one page is unmapped.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import ctypes
import mmap
import os
import resource

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
SIZE = 64 * 2**20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
zero = os.open("/dev/zero", os.O_RDWR)
held = 0
while held < limit * 5 // 4:
    start = libc.mmap(None, SIZE, 3, mmap.MAP_SHARED, zero, 0)
    if start == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    ctypes.memset(start, 1, SIZE)
    libc.munmap(start + mmap.PAGESIZE, SIZE - mmap.PAGESIZE)
    held += SIZE
print(MARKER)


# %% socket_buffers
"""Take more memory than a session has in sockets from which nobody reads, with buffers as they come.

layer: groups
plain: skipped, it would take gigabytes of this machine
session: own
proof: neighbour
"""

import os
import resource
import signal
import socket

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
piece = bytes(2**15)


def fill(tell):
    """Report the bytes that were taken in."""
    pairs, held = [], 0
    while len(pairs) < 220:
        pairs.append(socket.socketpair())
        for end in pairs[-1]:
            end.setblocking(False)
            try:
                while True:
                    held += end.send(piece)
            except BlockingIOError:
                continue
    os.write(tell, held.to_bytes(8, "little"))
    signal.alarm(20)
    signal.pause()


ready, tell = os.pipe()
held, children = 0, []
try:
    while held < limit * 5 // 4 and len(children) < 60:
        children.append(os.fork())
        if children[-1] == 0:
            try:
                fill(tell)
            finally:
                os._exit(1)
        held += int.from_bytes(os.read(ready, 8), "little")
    if held >= limit * 5 // 4 and not any(os.waitpid(child, os.WNOHANG)[0] for child in children):
        print(MARKER)
finally:
    for child in children:
        os.kill(child, signal.SIGKILL)


# %% tcp_buffers
"""Take more memory than a session has in TCP connections to itself from which nobody reads.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import resource
import socket

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
server = socket.create_server(("127.0.0.1", 0), backlog=240)
ends, held, piece = [], 0, bytes(2**18)
while held < limit * 5 // 4 and len(ends) < 400:
    end = socket.create_connection(server.getsockname())
    ends += [end, server.accept()[0]]
    for each in ends[-2:]:
        each.setblocking(False)
        try:
            while True:
                held += each.send(piece)
        except BlockingIOError:
            continue
if held >= limit * 5 // 4:
    print(MARKER)
