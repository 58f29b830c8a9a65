"""Data of one session that another one can see."""

# %% abstract_socket
"""Reach an abstract socket that an earlier session's process listens on.

layer: network
plain: succeeds
sessions: 2
"""

import os
import signal
import socket

name = f"\0sandbox-check-{MARKER[:8]}"
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(name)
    print(MARKER)
except OSError:
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        os.write(tell, b".")
        server.accept()  # the later session ends it by coming
        os._exit(0)
    os.read(ready, 1)  # before that, it would end with this session
    server.close()


# %% byte_code
"""Open the byte code of a module of the interpreter for writing, which later kernels would run.

layer: mounts
plain: depends, on who owns the interpreter
"""

import json
import os

for path in (json.__file__, json.__cached__, os.__file__):
    if os.path.exists(path):
        os.close(os.open(path, os.O_WRONLY))
        print(MARKER)
        break


# %% changed_module
"""Find a module as an earlier session has changed it.

layer: container
plain: fails
sessions: 2
"""

import json

if hasattr(json, "left"):
    print(MARKER)
json.left = True


# %% connection_files
"""Take over the kernel of a session that runs beside this one, with the key from its connection file.

layer: mounts
plain: depends, on which other kernels run
"""

import glob
import hashlib
import json
import os
import re

from jupyter_client.blocking.client import BlockingKernelClient


def connection_files_of_siblings():
    """From the command lines of the other kernels which the host has started."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            parent = int(open(path).read().rpartition(") ")[2].split()[1])
            command = open(path[:-4] + "cmdline").read().split("\0")
        except OSError:
            continue
        if parent == TARGET["host_pid"] and int(path.split("/")[2]) != os.getpid():
            yield from (word for word in command if re.search(r"kernel-.*\.json$|tmp.*\.json$", word))


for path in connection_files_of_siblings():
    client = BlockingKernelClient()
    client.load_connection_info(json.load(open(path)))
    client.start_channels()
    try:
        reply = client.execute("", silent=True, user_expressions={"secret": "secret"}, reply=True, timeout=2)
    except Exception:  # noqa: BLE001 - it is another one's, and is busy or gone
        continue
    finally:
        client.stop_channels()
    told = str(
        reply["content"].get("user_expressions", {}).get("secret", {}).get("data", {}).get("text/plain", "")
    )
    if hashlib.sha256(told.strip("'").encode()).hexdigest() == TARGET["neighbour_secret_sha256"]:
        print(MARKER)
        break


# %% file_in_shm
"""Find shared memory that an earlier session has left.

layer: container
plain: succeeds
sessions: 2
"""

import os

path = f"/dev/shm/sandbox-check-{MARKER[:8]}"

if os.path.exists(path):
    os.unlink(path)
    print(MARKER)
else:
    open(path, "w").close()


# %% file_in_tmp
"""Find a file that an earlier session has left in /tmp.

layer: container
plain: succeeds
sessions: 2
"""

import os
import tempfile

path = f"{tempfile.gettempdir()}/sandbox-check-{MARKER[:8]}"

if os.path.exists(path):
    os.unlink(path)
    print(MARKER)
else:
    open(path, "w").close()


# %% file_of_the_neighbour
"""Read what a session that runs beside this one keeps in /tmp.

layer: container
plain: succeeds
"""

import glob
import hashlib

places = ("/tmp", "/proc/[0-9]*/root/tmp", "/tmp/pyvision-sandbox-*/k*/work/.tmp", "../../k*/work/.tmp")
for path in [path for place in places for path in glob.glob(f"{place}/neighbour-*")]:
    try:
        kept = open(path).read().strip()
    except OSError:
        continue
    if hashlib.sha256(kept.encode()).hexdigest() == TARGET["neighbour_secret_sha256"]:
        print(MARKER)
        break


# %% images
"""Change an image for a later session.

layer: mounts
plain: skipped, there is no such folder
sessions: 2
"""

import os

for path in ("/opt/room/images/left", "/opt/room/sessions/left", "/opt/room/left"):
    if os.path.exists(path):
        print(MARKER)
    try:
        open(path, "w").close()
    except OSError:
        pass


# %% keyring
"""Leave a key in the ring of this user for a later session.

layer: calls
plain: depends, some containers forbid it
sessions: 2
"""

import ctypes
import platform

add, request, control = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
user_ring, unlink, search = -4, 9, 10
name = f"sandbox-check-{MARKER[:8]}".encode()
found = libc.syscall(control, search, user_ring, b"user", name, 0)
if found > 0:
    libc.syscall(control, unlink, found, user_ring)
    print(MARKER)
else:
    libc.syscall(add, b"user", name, b"left", 4, user_ring)


# %% listening_process
"""Reach a port that a process of an earlier session still listens on.

layer: network
plain: succeeds
sessions: 2
"""

import os
import signal
import socket

port = 20_000 + int(MARKER[:4], 16) % 10_000
try:
    with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
        told = client.recv(100).decode()
except OSError:
    told = None
if told == MARKER:
    print(MARKER)
elif told is None:
    with socket.create_server(("127.0.0.1", port)) as server:
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            os.write(tell, b".")
            server.accept()[0].sendall(MARKER.encode())  # to the later session
            os._exit(0)
        os.read(ready, 1)  # before that, it would end with this session


# %% memory_from_before
"""Find secrets of the host, or of another session, in what this kernel was given of the process it comes from.

layer: container
plain: succeeds
"""

import hashlib
import re

wanted = {TARGET["secret_sha256"], TARGET["neighbour_secret_sha256"]}
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in maps:
        start, _, end = line.split()[0].partition("-")
        size = int(end, 16) - int(start, 16)
        if " r" not in line or size > 2**26:
            continue
        try:
            memory.seek(int(start, 16))
            held = memory.read(size)
        except (OSError, OverflowError, ValueError):  # pages of Linux itself
            continue
        found = re.findall(rb"canary-[0-9a-f]{32}", held)
        if any(hashlib.sha256(secret).hexdigest() in wanted for secret in found):
            print(MARKER)
            break


# %% memory_of_the_neighbour
"""Find a variable of a session that runs beside this one in the memory of every process, and in one's own.

layer: processes
plain: succeeds as root
"""

import hashlib
import os
import re
import time


def parent_of(process):
    try:
        return int(open(f"/proc/{process}/stat").read().rpartition(") ")[2].split()[1])
    except OSError:
        return 0


def secrets_in(process):
    """All that look like one, from the memory that it may write."""
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps:
            start, _, end = line.split()[0].partition("-")
            size = int(end, 16) - int(start, 16)
            if " rw" in line and size <= 2**26:
                memory.seek(int(start, 16))
                yield from re.findall(rb"canary-[0-9a-f]{32}", memory.read(size))


def holds_the_secret(process):
    try:
        return any(hashlib.sha256(found).hexdigest() == wanted for found in secrets_in(process))
    except (OSError, OverflowError, ValueError):  # not allowed, or it has changed meanwhile
        return False


wanted, end = TARGET["neighbour_secret_sha256"], time.monotonic() + 6
processes = sorted(
    (int(name) for name in os.listdir("/proc") if name.isdigit()),
    key=lambda process: parent_of(process) != TARGET["host_pid"],
)
if any(holds_the_secret(process) for process in processes if time.monotonic() < end):
    print(MARKER)


# %% message_queue
"""Find a message that an earlier session has left in a System V queue.

layer: container
plain: succeeds
sessions: 2
"""

import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
key, create, exclusive = int(MARKER[:7], 16) + 1, 0o1000, 0o2000
if libc.msgget(key, create | exclusive | 0o600) < 0 and ctypes.get_errno() == errno.EEXIST:
    libc.msgctl(libc.msgget(key, 0), 0, None)
    print(MARKER)


# %% package_folder
"""Leave a file among the packages of the interpreter, which every later kernel imports from.

layer: mounts
plain: depends, on who owns the interpreter
sessions: 2
"""

import sysconfig
from pathlib import Path

left = Path(sysconfig.get_path("purelib"), f"sandbox_check_{MARKER[:8]}.txt")
if left.exists():
    left.unlink()
    print(MARKER)
else:
    left.touch()


# %% posix_message_queue
"""Find a POSIX message queue that an earlier session has left.

layer: container
plain: depends, on how Linux was built
sessions: 2
"""

import ctypes
import os

librt = ctypes.CDLL("librt.so.1", use_errno=True)
name = f"/sandbox-check-{MARKER[:8]}".encode()
queue = librt.mq_open(name, os.O_RDONLY)
if queue >= 0:
    librt.mq_close(queue)
    librt.mq_unlink(name)
    print(MARKER)
else:
    librt.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)


# %% process
"""Find a process that an earlier session has left.

layer: container
plain: succeeds
sessions: 2
"""

import glob
import os
import subprocess

found = []
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if open(path, "rb").read() == b"sleep\x0043.217\x00":
            found.append(int(path.split("/")[2]))
    except OSError:
        pass
if found:
    print(MARKER)
    for pid in found:
        os.kill(pid, 9)
else:
    subprocess.Popen(["sleep", "43.217"], start_new_session=True)


# %% settings_of_matplotlib
"""Leave settings where matplotlib of a later session reads them.

layer: container
plain: succeeds
sessions: 2
"""

from pathlib import Path

import matplotlib

left = Path(matplotlib.get_configdir(), "matplotlibrc")
if left.exists() and MARKER in left.read_text():
    left.unlink()
    print(MARKER)
elif not left.exists():
    left.write_text(f"# {MARKER}\n")


# %% shared_pages
"""Write into memory that is shared with other sessions rather than copied, and find it there later.

layer: container
plain: fails
session: own
sessions: 2
"""

mark = MARKER[::-1].encode()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "r+b", buffering=0) as memory:
    for line in maps:
        start, _, end = line.split()[0].partition("-")
        if " rw-s" not in line or "aio" in line:
            continue
        memory.seek(int(start, 16))
        if mark in memory.read(int(end, 16) - int(start, 16)):
            print(MARKER)
        memory.seek(int(end, 16) - len(mark))
        memory.write(mark)


# %% start_up_files
"""Leave code where the next kernel of this user might pick it up.

layer: container
plain: succeeds
sessions: 2
"""

import builtins
from pathlib import Path

if getattr(builtins, "sandbox_check_left", False):
    print(MARKER)
left = Path.home() / ".ipython/profile_default/startup/00-sandbox-check.py"
if left.exists():
    left.unlink()
else:
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("import builtins; builtins.sandbox_check_left = True\n")


# %% system_v_memory
"""Find System V memory that an earlier session has left.

layer: container
plain: succeeds
sessions: 2
"""

import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
key, create, exclusive, remove = int(MARKER[:7], 16) + 1, 0o1000, 0o2000, 0
if libc.shmget(key, 4096, create | exclusive | 0o600) < 0 and ctypes.get_errno() == errno.EEXIST:
    libc.shmctl(libc.shmget(key, 4096, 0), remove, None)
    print(MARKER)


# %% variables
"""Find a variable of an earlier session.

layer: container
plain: fails
sessions: 2
"""

if "left" in globals():
    print(MARKER)
left = True


# %% working_directory
"""Find a file in the working directory of an earlier session.

layer: container
plain: fails
sessions: 2
"""

from pathlib import Path

if Path("left").exists():
    print(MARKER)
Path("left").touch()
