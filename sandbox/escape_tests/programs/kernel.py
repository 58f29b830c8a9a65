"""Forge, break or replace the messages of the Jupyter kernel."""

# %% broken_encoder
"""Break the encoder with which the kernel makes its messages.

layer: deadline
plain: skipped, it spoils the kernel
session: own
proof: deadline
timeout: 1
"""

import json


def refuse(*arguments, **options):
    raise ValueError("no")


json.dumps = refuse
get_ipython().kernel.session.pack = refuse


# %% changed_key
"""Change the key with which the kernel signs, so that nothing it says is believed.

layer: messages
plain: skipped, it spoils the kernel
session: own
proof: deadline
timeout: 1
"""

get_ipython().kernel.session.key = b"another key"


# %% child_that_speaks_late
"""Have a child write into the output of the next cell.

layer: messages
plain: depends, on which thread is first
session: own
after: import time; time.sleep(0.6); print("own words")
expect: own words
"""

import subprocess

child = subprocess.Popen(["sh", "-c", "sleep 0.3; echo of the first cell"])


# %% closed_sockets
"""Close every descriptor and go on.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 0.5
"""

import os

os.closerange(3, 1024)
while True:
    pass


# %% deep_content
"""Send a message nested 5,000 levels deep.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import json

header = json.dumps(session.msg_header("stream"), default=str).encode()
frames = [
    header,
    json.dumps(parent["header"], default=str).encode(),
    b"{}",
    b'{"name":' + b"[" * 5000 + b"]" * 5000 + b"}",
]
kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])


# %% ended_loop
"""End the loop of the kernel, and hang in a handler at its exit, for as long as anybody waits.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: neighbour
after: pass
timeout: 1
"""

import asyncio
import atexit
import time

atexit.register(time.sleep, 20)
loop = asyncio.get_event_loop()
loop.call_soon(loop.stop)


# %% forged_host_calls
"""Call functions of the host that it was not given.

layer: messages
plain: skipped, there is no host to call
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
for name in ("open", "eval", "__import__", "system", ""):
    content = {"call": "1", "function": name, "args": ["id"], "kwargs": {}}
    for _ in range(50):
        session.send(kernel.stdin_socket, "host_call", content, parent, ident=ident)


# %% forged_idle
"""Say that it is over, and go on to write.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import time

session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
time.sleep(0.3)
print("after the end")


# %% forged_reply
"""Answer its own request before its end, and speak in the next cell.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

content = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
session.send(
    kernel.shell_stream,
    "execute_reply",
    content,
    parent,
    ident=kernel._get_shell_context_var(kernel._shell_parent_ident),
)
session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
import threading, time

threading.Thread(target=lambda: (time.sleep(0.2), print(MARKER + "!"))).start()
time.sleep(0.5)
print("forged")


# %% garbage
"""Send frames that are no messages.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import os

for size in (0, 1, 5, 100, 10_000):
    for count in (1, 2, 6, 12):
        kernel.iopub_socket.send_multipart([os.urandom(size) for _ in range(count)])
        kernel.iopub_socket.send_multipart([b"<IDS|MSG>", *[os.urandom(size) for _ in range(count)]])


# %% half_a_character
"""Print a text that no message can carry.

layer: messages
plain: skipped, it spoils the kernel
session: own
proof: deadline
after: print("own words" if kept else "")
expect: own words
timeout: 1
"""

kept = True
print("\ud800")


# %% hostile_exception
"""Raise an exception whose text, name and frames answer nobody.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 1
"""


class Hostile(Exception):
    def __str__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue

    __repr__ = __str__


raise Hostile


# %% huge_frame
"""Send one message of 200 MB.

layer: messages
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

kernel.iopub_socket.send_multipart([b"x" * (200 * 2**20)])


# %% junk_on_descriptors
"""Write junk to every descriptor.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 0.5
"""

import os

for file in range(3, 400):
    try:
        os.set_blocking(file, False)
        os.write(file, os.urandom(4096))
    except OSError:
        pass
while True:
    pass


# %% listener_taken_over
"""Answer the host's own connections with junk, in the place of the kernel's sockets.

layer: messages
plain: skipped, it spoils the kernel
session: own
proof: neighbour
after: pass
timeout: 1
"""

import os
import socket
import threading


def listening(number):
    """The socket, if it is one of those at which the host connects."""
    try:
        found = socket.socket(fileno=os.dup(number))
    except OSError:
        return None
    if found.family == socket.AF_UNIX and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return found
    found.close()
    return None


def answer(listener):
    listener.settimeout(5)
    try:
        for _ in range(100):
            with listener.accept()[0] as connection:
                connection.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + os.urandom(100_000))
    except OSError:
        return


numbers = [int(name) for name in os.listdir("/proc/self/fd")]
for listener in filter(None, map(listening, numbers)):
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
for _ in range(70):  # until the host gives the connection up, and makes a new one with the next cell
    print("x" * 2**20)


# %% replaced_streams
"""Put something else in the place of standard output for the next cell.

layer: messages
plain: skipped, it spoils the kernel
session: own
after: print('own words')
expect: own words
"""

import io
import sys

sys.stdout = io.StringIO()
sys.stderr = None


# %% replayed_message
"""Send one signed message of the kernel many times.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

message = session.msg("stream", {"name": "stdout", "text": "again\n"}, parent)
frames = session.serialize(message)
for _ in range(1000):
    kernel.iopub_socket.send_multipart(frames)


# %% reply_before_the_end
"""Answer its own request before its end, and go on writing when the next cell runs.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print("own words")
expect: own words
"""

import time

kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
shell = kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)
kernel.session.send(shell, "execute_reply", {"status": "ok"}, parent, ident=ident)
kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
for _ in range(5):
    time.sleep(0.1)
    print("words of the first cell")


# %% reply_for_the_next_cell
"""Answer requests that the host has not made yet, whose identities can be guessed.

layer: messages
plain: skipped, nobody matches it there
session: own
after: import time; time.sleep(0.2); print("own words")
expect: own words
"""

kernel = get_ipython().kernel
parent = kernel.get_parent("shell")["header"]
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
shell = kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)
base, _, number = parent["msg_id"].rpartition("_")
for ahead in range(1, 20):
    guess = {"header": {"msg_id": f"{base}_{int(number) + ahead}", "session": parent["session"]}}
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, guess)
    kernel.session.send(shell, "execute_reply", {"status": "ok"}, guess, ident=ident)


# %% second_kernel
"""Fork, and let the child go on as a second kernel at the same sockets.

layer: messages
plain: skipped, it spoils the kernel
session: own
after: print("own words")
expect: own words
timeout: 3
"""

import os
import signal

if os.fork() == 0:
    signal.alarm(10)


# %% silenced_output
"""Close standard output for the next cell.

layer: messages
plain: skipped, it spoils the kernel
session: own
after: print('own words')
expect: own words
"""

import os
import sys

sys.stdout.close()
os.close(1)
os.close(2)


# %% stopped_output
"""End the thread that sends output, for the cells to come.

layer: messages
plain: succeeds
session: own
timeout: 3
after: print("own words")
expect: own words
"""

get_ipython().kernel.iopub_thread.stop()


# %% strange_encodings
"""Send well-signed messages that are hardly JSON: huge numbers, halves of characters, other encodings.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print("own words")
expect: own words
"""

import json

kernel = get_ipython().kernel
session = kernel.session
header, parent = (
    json.dumps(part, default=str).encode()
    for part in (session.msg_header("stream"), kernel.get_parent("shell")["header"])
)
strange = (
    b'{"name": "stdout", "text": ' + b"9" * 100_000 + b"}",
    b'{"name": "stdout", "text": 1e999999}',
    b'{"name": "stdout", "text": NaN}',
    b'{"name": "stdout", "text": "\\ud800"}',
    b'{"name": "stdout", "text": "\xff\xfe"}',
    '{"name": "stdout", "text": "x"}'.encode("utf-16"),
    b"\xef\xbb\xbf{}",
    b'{"name": "stdout", "name": 5, "text": "x"}',
    b"",
    b"\x00" * 1000,
    b'"' + b"\\u0000" * 10_000 + b'"',
)
for content in strange:
    for frames in (
        [header, parent, b"{}", content],
        [header, parent, content, b"{}"],
        [header, content, b"{}", b"{}"],
    ):
        kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])
        kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames, b"buffer" * 100])


# %% strange_headers
"""Send well-signed messages whose dates, versions and parents are nothing like them.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print("own words")
expect: own words
"""

import json

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")
own = json.loads(json.dumps(parent["header"], default=str))
dates = (
    "2020-01-01T00:00:00",
    "9999-12-31T23:59:59.999999",
    "0000-00-00T99:99:99Z",
    "2020-01-01T00:00:00+99:99",
    5,
)
versions = ("4.0", "3", "", ".", "x", "99999999999999999999.1", "-1", 5, None, ["5"], {})
kinds = ("stream", "pyout", "pyerr", "display_data", "complete_reply", "object_info_reply", "status")
contents = (
    {},
    {"data": {"application/json": "{"}},
    {"data": "x"},
    {"name": "stdout", "data": 5},
    {"text": {}},
)


def tell(header, parent_header, metadata, content):
    frames = [json.dumps(part).encode() for part in (header, parent_header, metadata, content)]
    kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])


for kind in kinds:
    for content in contents:
        for date in dates:
            tell({**own, "msg_type": kind, "date": date}, own, {}, content)
        for version in versions:
            tell({**own, "msg_type": kind, "version": version}, own, {}, content)
for strange in ([], None, 5, "x", {}, {"msg_id": []}, {"msg_id": {}, "date": "2020-01-01T00:00:00"}):
    tell({**own, "msg_type": "stream"}, strange, {}, {"name": "stdout", "text": "x"})
    tell(strange, own, {}, {"name": "stdout", "text": "x"})
    tell({**own, "msg_type": "stream"}, own, strange, {"name": "stdout", "text": ""})


# %% stream_for_the_next_cell
"""Send text under the identities that a next request could have.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import threading
import time

base, _, number = parent["header"]["msg_id"].rpartition("_")


def speak():
    for step in range(20):
        for ahead in range(1, 30):
            guess = {"msg_id": f"{base}_{int(number) + ahead}", "session": parent["header"]["session"]}
            session.send(
                kernel.iopub_socket, "stream", {"name": "stdout", "text": "forged"}, {"header": guess}
            )
        time.sleep(0.05)


speak()


# %% thread_that_speaks_late
"""Have a thread, and a task of the loop, write into the output of the next cell.

layer: messages
plain: depends, on the version of ipykernel
session: own
after: import asyncio; await asyncio.sleep(0.8); print("own words")
expect: own words
"""

import asyncio
import threading
import time


async def speak():
    await asyncio.sleep(0.4)
    print("task of the first cell")


def speak_too():
    time.sleep(0.3)
    print("thread of the first cell")


task = asyncio.get_event_loop().create_task(speak())
threading.Thread(target=speak_too).start()


# %% wrong_signature
"""Send messages with another key.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

forger = type(session)(key=b"another key")
for _ in range(100):
    forger.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": MARKER + "\n"}, parent)


# %% wrong_types
"""Send well-signed messages with contents of every wrong type.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

wrong = (None, 1, "x", [], {}, {"a": 1}, [[[]]], True, 1e308, "x" * 100_000)
for kind in ("stream", "display_data", "execute_result", "error", "status", "trace", "comm_open", "x", ""):
    for name in (
        "name",
        "text",
        "data",
        "ename",
        "evalue",
        "traceback",
        "execution_state",
        "events",
        "metadata",
    ):
        for value in wrong:
            session.send(kernel.iopub_socket, kind, {name: value}, parent)
