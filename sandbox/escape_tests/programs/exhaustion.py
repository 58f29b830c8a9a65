"""Use up memory, processes, descriptors, disk or the host's attention."""

# %% asynchronous_io
"""Take most of the places for asynchronous reads and writes that this whole machine has.

layer: calls
plain: depends, on how Linux was built and on what else runs
"""

import ctypes
import platform

setup, destroy = {"x86_64": (206, 207), "aarch64": (0, 1)}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = (ctypes.c_long, ctypes.c_ulong, ctypes.c_void_p)
most = int(open("/proc/sys/fs/aio-max-nr").read())
held = []
for _ in range(11):
    context = ctypes.c_ulong()
    if libc.syscall(setup, most // 20, ctypes.byref(context)) != 0:
        break
    held.append(context)
for context in held:
    libc.syscall(destroy, context.value, None)
if len(held) >= 10:
    print(MARKER)


# %% busy_children
"""Leave four children spinning after the cell.

layer: deadline
plain: skipped, they would go on
session: own
proof: neighbour
after: print('still here')
expect: still here
"""

import os
import time

for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 3
        while time.monotonic() < end:
            pass
        os._exit(0)


# %% comms
"""Open 5,000 comms, each a message to the host.

layer: output
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

from comm import create_comm

for number in range(5_000):
    create_comm(target_name="x", data={"text": "x" * 1000})


# %% content_of_many_parts
"""Send a message of 30 MB whose content takes the host a gigabyte to hold.

layer: messages
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import json

kernel = get_ipython().kernel
session = kernel.session
header = json.dumps(session.msg_header("stream"), default=str).encode()
parent = json.dumps(kernel.get_parent("shell")["header"], default=str).encode()
content = b'{"name":"stdout","text":[' + b"{}," * 10_000_000 + b"{}]}"
frames = [header, parent, b"{}", content]
kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])


# %% descriptors
"""Open 20,000 files.

layer: limits
plain: depends, on the limit of whoever runs it
"""

import os

held = []
try:
    for _ in range(20_000):
        held.append(os.open("/dev/null", os.O_RDONLY))
    print(MARKER)
finally:
    for file in held:
        os.close(file)


# %% descriptors_in_flight
"""Keep more files open than a process may, by sending them to nobody.

layer: limits
plain: depends, on the rights of the user and the limit of whoever runs it
"""

import array
import os
import resource
import socket

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if soft > 2**18:  # as good as none: it would take the memory of the machine
    raise OSError(f"{soft} files may be open")
wanted = soft + 500
file = os.open("/dev/null", os.O_RDONLY)
sent, pairs = 0, []
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file] * 250))]
try:
    while sent < wanted:
        pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        for _ in range(4):
            pairs[-1][0].sendmsg([b"x"], rights)
            sent += 250
    print(MARKER)
finally:
    os.close(file)
    for pair in pairs:
        for end in pair:
            end.close()


# %% descriptors_raised
"""Raise the limit on descriptors.

layer: users
plain: depends, on the limit that is there already
"""

import resource

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1))
print(MARKER)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# %% disk
"""Write 1 GiB to the disk.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import os
import tempfile

written = 0
for number in range(32):
    with open(f"{tempfile.gettempdir()}/part{number}", "wb", buffering=0) as file:
        for _ in range(8):
            written += file.write(b"x" * (4 * 2**20))
if written >= 2**30:
    print(MARKER)
for number in range(32):
    os.unlink(f"{tempfile.gettempdir()}/part{number}")


# %% disk_by_one_file
"""Write one file of 600 MiB.

layer: limits
plain: skipped, it would write 600 MiB
session: own
"""

import signal
import tempfile

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open(f"{tempfile.gettempdir()}/large", "wb", buffering=0) as file:
    for _ in range(150):
        if file.write(b"x" * (4 * 2**20)) < 4 * 2**20:
            break
    else:
        print(MARKER)


# %% exception_message
"""Raise an exception with a message of 200 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

raise ValueError("x" * (200 * 2**20))


# %% figure_of_many_pixels
"""Show a figure of 400 megapixels.

layer: output
plain: skipped, it would take gigabytes
session: own
proof: neighbour
"""

import matplotlib.pyplot as plt

plt.figure(figsize=(200, 200), dpi=100)
plt.plot([0, 1])
plt.show()


# %% figures
"""Show 60 figures.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
"""

from PIL import Image
from IPython.display import display

picture = Image.effect_noise((400, 400), 90)
for _ in range(60):
    display(picture)


# %% files
"""Make 200,000 files.

layer: disk
plain: skipped, it would use up the files of this disk
session: own
timeout: 3
"""

import os
import tempfile

many = f"{tempfile.gettempdir()}/many"
os.makedirs(many)
for number in range(200_000):
    os.close(os.open(f"{many}/{number}", os.O_CREAT | os.O_WRONLY))
print(MARKER)


# %% forged_figure
"""Send a PNG that claims 4,000,000,000 pixels.

layer: messages
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import base64
import struct
import zlib
from IPython.display import display

header = struct.pack(">IIBBBBB", 65_535, 65_535, 8, 2, 0, 0, 0)
chunk = b"IHDR" + header
file = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
display({"image/png": base64.b64encode(file).decode(), "text/plain": "x"}, raw=True)


# %% fork_bomb
"""Fork in every child, up to 2,000 processes.

layer: limits
plain: skipped, it would start 2,000 processes
session: own
proof: neighbour
timeout: 3
"""

import os
import time

end = time.monotonic() + 1
for _ in range(11):
    try:
        os.fork()
    except OSError:
        pass
    if time.monotonic() > end:
        break
time.sleep(1)


# %% heavy_figures
"""Show 16 pictures of 12 MB each.

layer: output
plain: skipped, nobody reads them there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import base64
import os
import struct
import zlib

from IPython.display import display


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


header = struct.pack(">IIBBBBB", 2000, 2000, 8, 2, 0, 0, 0)
noise = os.urandom(12 * 2**20)
picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", noise) + chunk(b"IEND", b"")
encoded = base64.b64encode(picture).decode()
for _ in range(16):
    display({"image/png": encoded, "text/plain": "x"}, raw=True)


# %% inotify
"""Take every file watcher that one user of this machine may have, so that nobody else gets one.

layer: calls
plain: depends, on what else this user runs
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
most = int(open("/proc/sys/fs/inotify/max_user_instances").read())
held = []
while len(held) < min(most, 900) and (watcher := libc.inotify_init()) >= 0:
    held.append(watcher)
for watcher in held:
    os.close(watcher)
if len(held) >= min(most, 900) * 3 // 4:
    print(MARKER)


# %% limits_raised
"""Live under no limit on memory, files and processes worth the name, by raising those that there are.

layer: users
plain: depends, on the limits of whoever runs it
"""

import resource

generous = {resource.RLIMIT_AS: 2**37, resource.RLIMIT_FSIZE: 2**37, resource.RLIMIT_NPROC: 2_000}
held = {}
for limit, wanted in generous.items():
    held[limit] = resource.getrlimit(limit)
    hard = held[limit][1]
    if hard != resource.RLIM_INFINITY and hard < wanted:
        resource.setrlimit(limit, (wanted, wanted))
print(MARKER)
for limit, before in held.items():
    resource.setrlimit(limit, before)


# %% memory_bomb_unpacked
"""Unpack a small archive into more memory than a session has.

layer: limits
plain: depends, on the memory and the limits of the machine
"""

import gzip
import resource

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
member = gzip.compress(bytes(2**26), 1)
if len(gzip.decompress(member * (wanted // 2**26 + 1))) >= wanted:
    print(MARKER)


# %% memory_of_children
"""Take 3 GiB of memory by six children, each below the limit of one process.

layer: groups
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

import os
import time

ready, tell = os.pipe()
children = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        data = bytearray(512 * 2**20)
        data[::4096] = b"x" * len(data[::4096])
        os.write(tell, b"x")
        time.sleep(4)
        os._exit(0)
    children.append(pid)
os.close(tell)
os.set_blocking(ready, False)
end, held = time.monotonic() + 3, b""
while time.monotonic() < end and len(held) < 6:
    try:
        held += os.read(ready, 6)
    except BlockingIOError:
        pass
    time.sleep(0.05)
if len(held) == 6:
    print(MARKER)
for pid in children:
    try:
        os.kill(pid, 9)
    except OSError:
        pass
    os.waitpid(pid, 0)


# %% memory_of_one
"""Take 3 GiB of memory in one process.

layer: limits
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

data = []
for _ in range(30):
    block = bytearray(100 * 2**20)
    block[::4096] = b"x" * len(block[::4096])
    data.append(block)
print(MARKER)


# %% memory_of_tcp
"""Take five eighths of the memory that a session has, and as much in TCP connections that nobody reads.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import os
import resource
import socket

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
limit = 512 * 2**20 if limit == resource.RLIM_INFINITY else limit
files, held, piece = [], 0, bytes(2**22)
while held < limit * 5 // 8:
    files.append(os.memfd_create("held"))
    for _ in range(16):
        held += os.write(files[-1], piece)
server = socket.create_server(("127.0.0.1", 0), backlog=512)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
ends, piece = [], bytes(2**18)
while held < limit * 5 // 4 and len(ends) < 800:
    end = socket.create_connection(server.getsockname())
    ends += [end, server.accept()[0]]
    end.setblocking(False)
    try:
        while True:
            held += end.send(piece)
    except BlockingIOError:
        continue
if held >= limit * 5 // 4:
    print(MARKER)
for end in ends:
    end.close()
for file in files:
    os.close(file)


# %% memory_picture_bomb
"""Decode a picture file of a few kilobytes that has more pixels than a session has memory.

layer: limits
plain: depends, on the memory and the limits of the machine
"""

import io
import resource
import struct
import zlib

from PIL import Image

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
side = int(wanted**0.5) + 1


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


Image.MAX_IMAGE_PIXELS = None
packer = zlib.compressobj(1)
rows = (
    b"".join(packer.compress(bytes(side + 1)) for _ in range(100)) + packer.flush()
)  # the others are missing
header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
picture = Image.open(io.BytesIO(bomb))
try:
    picture.load()
except (OSError, SyntaxError):
    pass  # it is cut short; by then its memory was had
if picture.im is not None and picture.im.size == (side, side):
    print(MARKER)


# %% memory_sockets
"""Take more memory in the buffers of connected sockets than a session has.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import os
import resource
import signal
import socket

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
pairs_each, piece = 120, bytes(2**16)


def fill(tell):
    """Report the bytes that were taken in by sockets from which nobody reads."""
    pairs, held = [socket.socketpair() for _ in range(pairs_each)], 0
    for pair in pairs:
        for end in pair:
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
            try:
                while True:
                    held += end.send(piece)
            except BlockingIOError:
                continue
    os.write(tell, held.to_bytes(8, "little"))
    signal.alarm(20)
    signal.pause()


told, tell = os.pipe()
held, children = 0, []
while held < wanted and len(children) < 60:
    child = os.fork()
    if child == 0:
        try:
            fill(tell)
        finally:
            os.write(tell, bytes(8))
            os._exit(0)
    children.append(child)
    more = int.from_bytes(os.read(told, 8), "little")
    if more == 0:
        break
    held += more
if held >= wanted and all(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children):
    print(MARKER)
for child in children:
    os.kill(child, signal.SIGKILL)


# %% memory_system_v
"""Take more memory in System V segments that nobody has attached than a session has.

layer: groups
plain: depends, on the memory and the limits of the machine
session: own
"""

import ctypes
import resource

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
size = 32 * 2**20
segments = []
try:
    while len(segments) * size < wanted:
        segment = libc.shmget(0, size, 0o1600)
        assert segment >= 0, ctypes.get_errno()
        segments.append(segment)
        address = libc.shmat(segment, None, 0)
        ctypes.memset(address, 1, size)
        libc.shmdt(ctypes.c_void_p(address))
    print(MARKER)
finally:
    for segment in segments:
        libc.shmctl(segment, 0, None)


# %% memory_without_address_space
"""Take 3 GiB of memory in anonymous files, which are nobody's address space.

layer: groups
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

import os

files = [os.memfd_create(str(number)) for number in range(15)]
for file in files:
    for _ in range(20):
        os.write(file, b"x" * (10 * 2**20))
print(MARKER)


# %% messages
"""Send 100,000 display messages.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
timeout: 3
"""

from IPython.display import display

for number in range(100_000):
    display({"text/plain": str(number)}, raw=True)


# %% one_huge_text
"""Print one text of 160 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
"""

print("x" * (160 * 2**20))


# %% pipes
"""Take 256 MiB of memory in pipes that nobody reads, beyond what one user may have in them.

layer: limits
plain: succeeds as root
"""

import fcntl
import os

wanted, held, pipes = 256 * 2**20, 0, []
try:
    while held < wanted:
        read, write = os.pipe()
        pipes += [read, write]
        size = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 2**20)
        held += os.write(write, bytes(size))
    print(MARKER)
finally:
    for end in pipes:
        os.close(end)


# %% processes
"""Start 400 processes.

layer: limits
plain: depends, on the limits of whoever runs it
session: own
proof: neighbour
"""

import os
import time

children = []
try:
    for _ in range(400):
        pid = os.fork()
        if pid == 0:
            time.sleep(3)
            os._exit(0)
        children.append(pid)
    print(MARKER)
finally:
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


# %% recursion
"""Recurse without end in C.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 1
"""

import sys

sys.setrecursionlimit(10**9)


def deeper(value):
    return deeper([value])


deeper([])


# %% replies
"""Send the host 20,000 replies that it has not asked for.

layer: messages
plain: skipped, nobody reads it there
session: own
timeout: 3
proof: neighbour
after: print(6 * 7)
expect: 42
"""

kernel = get_ipython().kernel
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
shell = kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)
for number in range(20_000):
    forged = {"header": {"msg_id": str(number)}}
    kernel.session.send(shell, "execute_reply", {"status": "ok"}, forged, ident=ident)


# %% repr
"""Show an object whose repr has 160 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""


class Wide:
    def __repr__(self):
        return "x" * (160 * 2**20)


Wide()


# %% shared_memory
"""Take 3 GiB of memory in shared mappings.

layer: groups
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

import mmap

maps = []
for _ in range(30):
    block = mmap.mmap(-1, 100 * 2**20)
    block[::4096] = b"x" * (len(block) // 4096)
    maps.append(block)
print(MARKER)


# %% shm_folder
"""Fill the shared memory of the machine with 200 MiB.

layer: disk
plain: depends, on the size of /dev/shm
"""

import os

try:
    with open("/dev/shm/filled", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(b"x" * (4 * 2**20))
    if os.path.getsize("/dev/shm/filled") >= 200 * 2**20:
        print(MARKER)
finally:
    os.unlink("/dev/shm/filled")


# %% sparse_file
"""Make a sparse file of 1 TiB.

layer: limits
plain: depends, some file systems refuse it
"""

import os
import tempfile

with tempfile.NamedTemporaryFile() as file:
    os.ftruncate(file.fileno(), 2**40)
    print(MARKER)


# %% standard_input
"""Ask the host for 20,000 lines of input.

layer: output
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
for _ in range(20_000):
    kernel.session.send(kernel.stdin_socket, "input_request", {"prompt": "x" * 100}, parent, ident=ident)


# %% terminals
"""Take a large part of the pseudo-terminals that this whole machine has.

layer: limits
plain: depends, on how the machine is set up
session: own
"""

import os
import resource
import signal

most = int(open("/proc/sys/kernel/pty/max").read())
wanted = min(most // 2, 2048)  # this much of it, whoever asks
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
each = min(limit - 100, 700)
told, tell = os.pipe()
children, held = [], 0
for _ in range(wanted // each + 1):
    child = os.fork()
    if child == 0:
        count = 0
        try:
            while count < each:
                os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
                count += 1
        finally:
            os.write(tell, count.to_bytes(4, "little"))
            signal.alarm(20)
            signal.pause()
            os._exit(0)
    children.append(child)
    held += int.from_bytes(os.read(told, 4), "little")
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
if held >= wanted:
    print(MARKER)


# %% text
"""Print 300 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
timeout: 3
"""

line = "x" * 99
for _ in range(3_000_000):
    print(line)


# %% text_of_a_child
"""Have a child write without end.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
timeout: 3
"""

import subprocess

subprocess.run(["timeout", "10", "yes", "x" * 200], check=False)


# %% threads
"""Start 2,000 threads.

layer: limits
plain: depends, on the limits of whoever runs it
session: own
proof: neighbour
"""

import threading

over = threading.Event()
threads = []
try:
    for _ in range(2000):
        thread = threading.Thread(target=over.wait, args=(5,), daemon=True)
        thread.start()
        threads.append(thread)
    print(MARKER)
finally:
    over.set()


# %% timers
"""Arm so many timers that the others of this user get none.

layer: limits
plain: depends, on the limit of whoever runs it
session: own
"""

import ctypes

libc = ctypes.CDLL("librt.so.1", use_errno=True)
held = []
while len(held) < 3_000:
    timer = ctypes.c_void_p()
    if libc.timer_create(1, None, ctypes.byref(timer)) != 0:
        break
    held.append(timer)
for timer in held:
    libc.timer_delete(timer)
if len(held) == 3_000:
    print(MARKER)


# %% traceback_of_many_causes
"""Raise an exception that has 20,000 causes, each of them with a line of its own to be shown.

layer: output
plain: skipped, it takes minutes there
session: own
proof: deadline
timeout: 3
"""

error = None
for number in range(20_000):
    try:
        raise ValueError(str(number)) from error
    except ValueError as raised:
        error = raised
raise error


# %% zombies
"""Fill the table of processes with children that have ended and that nobody waits for.

layer: groups
plain: depends, on the limits of whoever runs it
session: own
proof: neighbour
"""

import os

children = []
try:
    for _ in range(600):
        child = os.fork()
        if child == 0:
            os._exit(0)
        children.append(child)
    print(MARKER)
finally:
    for child in children:
        os.waitpid(child, 0)


# %% disk_by_removed_files
"""Keep 1 GiB on the disk in files that are removed and still open.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import tempfile
import time

kept = []
for _ in range(16):
    kept.append(tempfile.TemporaryFile(buffering=0))
    for _ in range(16):
        if kept[-1].write(b"x" * (4 * 2**20)) < 4 * 2**20:
            raise OSError("the disk is full")
time.sleep(1)
print(MARKER)


# %% folders_that_cannot_be_removed
"""Leave folders that nobody may enter, a thousand deep, for the host to remove.

layer: container
plain: skipped, nobody would remove them there
session: own
proof: neighbour
"""

import os
import tempfile

os.chdir(tempfile.mkdtemp())
for _ in range(1500):
    os.mkdir("a")
    os.chdir("a")
os.mkdir("locked", 0)


# %% disk_by_mapped_files
"""Keep 1 GiB on the disk in removed files that are mapped in part, without a descriptor.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import ctypes
import os
import tempfile
import time

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
for number in range(16):
    path = f"{tempfile.gettempdir()}/mapped{number}"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    for _ in range(16):
        if os.write(file, b"x" * (4 * 2**20)) < 4 * 2**20:
            raise OSError("the disk is full")
    libc.mmap(None, 4096, 1, 1, file, 0)
    os.close(file)
time.sleep(1)
print(MARKER)


# %% disk_by_a_name_with_the_end_of_a_line
"""Keep 1 GiB on the disk in removed files that are mapped, with names that break the lines of a list of mappings.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import ctypes
import os
import tempfile
import time

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
for number in range(16):
    path = f"{tempfile.gettempdir()}/mapped\n{number}\r"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    for _ in range(16):
        if os.write(file, b"x" * (4 * 2**20)) < 4 * 2**20:
            raise OSError("the disk is full")
    libc.mmap(None, 4096, 1, 1, file, 0)
    os.close(file)
time.sleep(1)
print(MARKER)


# %% disk_by_long_paths
"""Keep 1 GiB on the disk in removed files below a path that is too long to be shown.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import os
import tempfile
import time

depth, name = 25, "d" * 200
start = os.getcwd()
os.chdir(tempfile.mkdtemp())
for _ in range(depth):
    os.mkdir(name)
    os.chdir(name)
kept = []
for number in range(16):
    kept.append(os.open(f"part{number}", os.O_RDWR | os.O_CREAT))
    os.unlink(f"part{number}")
for _ in range(depth):
    os.chdir("..")
    os.rmdir(name)
os.chdir(start)
for file in kept:
    for _ in range(16):
        if os.write(file, b"x" * (4 * 2**20)) < 4 * 2**20:
            raise OSError("the disk is full")
time.sleep(1)
print(MARKER)


# %% disk_by_a_thread_that_is_left
"""Keep 1 GiB on the disk in removed files of a process whose first thread has ended.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import ctypes
import os
import platform
import tempfile
import threading
import time


def hold(done):
    kept = []
    for _ in range(16):
        kept.append(tempfile.TemporaryFile(buffering=0))
        for _ in range(16):
            if kept[-1].write(b"x" * (4 * 2**20)) < 4 * 2**20:
                os._exit(1)
    os.write(done, b".")
    time.sleep(3)
    os._exit(0)


done, writer = os.pipe()
if os.fork() == 0:
    threading.Thread(target=hold, args=(writer,)).start()
    ctypes.CDLL(None).syscall(
        {"x86_64": 60, "aarch64": 93}[platform.machine()], 0
    )  # exit, of this thread alone
os.close(writer)
if os.read(done, 1):
    time.sleep(1)
    print(MARKER)


# %% disk_by_sent_descriptors
"""Keep 1 GiB on the disk in removed files whose only descriptors are on their way over a socket.

layer: disk
plain: skipped, it would write 1 GiB
session: own
proof: neighbour
"""

import os
import socket
import tempfile
import time

left, right = socket.socketpair()
for number in range(16):
    path = f"{tempfile.gettempdir()}/sent{number}"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    for _ in range(16):
        if os.write(file, b"x" * (4 * 2**20)) < 4 * 2**20:
            raise OSError("the disk is full")
    socket.send_fds(left, [b"x"], [file])
    os.close(file)
time.sleep(1)
print(MARKER)
