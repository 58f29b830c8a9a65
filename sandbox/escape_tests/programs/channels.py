"""Write past the kernel into the connections on which the host reads what it says."""

# %% empty_parts
"""Write a message of ten million empty parts into the output connection.

layer: messages
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 1
"""

import os
import select
import socket
import time


def accepted(channel):
    """Copies of the kernel's ends of the connections on a channel."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    yield end
        except OSError:
            continue


for end in accepted("iopub"):
    rest = memoryview(b"\x01\x00" * 10_000_000 + b"\x00\x00")
    until = time.monotonic() + 8
    while rest and time.monotonic() < until:
        select.select([], [end], [], 0.1)
        try:
            rest = rest[end.send(rest) :]
        except BlockingIOError:
            continue
        except OSError:
            break


# %% empty_parts_of_a_reply
"""Write a message of ten million empty parts into the connection of the replies.

layer: messages
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 1
"""

import os
import select
import socket
import time


def accepted(channel):
    """Copies of the kernel's ends of the connections on a channel."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    yield end
        except OSError:
            continue


for end in accepted("shell"):
    rest = memoryview(b"\x01\x00" * 10_000_000 + b"\x00\x00")
    until = time.monotonic() + 8
    while rest and time.monotonic() < until:
        select.select([], [end], [], 0.1)
        try:
            rest = rest[end.send(rest) :]
        except BlockingIOError:
            continue
        except OSError:
            break


# %% endless_message
"""Write a message that never ends into the output connection.

layer: messages
plain: skipped, it needs a neighbour
session: own
proof: neighbour
timeout: 5
"""

import os
import select
import socket
import time


def accepted(channel):
    """Copies of the kernel's ends of the connections on a channel."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    yield end
        except OSError:
            continue


part = b"\x03" + (2**20).to_bytes(8, "big") + bytes(2**20)
for end in accepted("iopub"):
    left, rest, until = 700, memoryview(part), time.monotonic() + 4
    while left and time.monotonic() < until:
        select.select([], [end], [], 0.1)
        try:
            rest = rest[end.send(rest) :]
        except BlockingIOError:
            continue
        except OSError:
            break
        if not rest:
            left, rest = left - 1, memoryview(part)


# %% endless_reply
"""Write a message that never ends into the connection of the replies.

layer: messages
plain: skipped, it needs a neighbour
session: own
proof: neighbour
timeout: 5
"""

import os
import select
import socket
import time


def accepted(channel):
    """Copies of the kernel's ends of the connections on a channel."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    yield end
        except OSError:
            continue


part = b"\x03" + (2**20).to_bytes(8, "big") + bytes(2**20)
for end in accepted("shell"):
    left, rest, until = 700, memoryview(part), time.monotonic() + 4
    while left and time.monotonic() < until:
        select.select([], [end], [], 0.1)
        try:
            rest = rest[end.send(rest) :]
        except BlockingIOError:
            continue
        except OSError:
            break
        if not rest:
            left, rest = left - 1, memoryview(part)


# %% endless_reply_to_an_interrupt
"""Write a message that never ends into the connection on which the host interrupts, as soon as it does.

layer: messages
plain: skipped, it needs a neighbour
session: own
proof: neighbour
timeout: 0.5
"""

import os
import select
import signal
import socket
import time


def accepted(channel):
    """Copies of the kernel's ends of the connections on a channel."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    yield end
        except OSError:
            continue


signal.signal(signal.SIGINT, signal.SIG_IGN)
part = b"\x03" + (2**20).to_bytes(8, "big") + bytes(2**20)
until = time.monotonic() + 5
while not (ends := list(accepted("control"))) and time.monotonic() < until:
    time.sleep(0.001)
for end in ends:
    left, rest = 700, memoryview(part)
    while left and time.monotonic() < until:
        select.select([], [end], [], 0.1)
        try:
            rest = rest[end.send(rest) :]
        except BlockingIOError:
            continue
        except OSError:
            break
        if not rest:
            left, rest = left - 1, memoryview(part)


# %% large_frames
"""Send signed messages of four texts of 38 MB, each with a character that makes it four times as large.

layer: messages
plain: skipped, it needs a neighbour
session: own
proof: neighbour
timeout: 8
"""

kernel = get_ipython().kernel
text = b'{"msg_type":"stream","name":"stdout","text":"\\ud83d\\ude00' + b"x" * 38_000_000 + b'"}'
frames = [b"<IDS|MSG>", kernel.session.sign([text] * 4), *[text] * 4]
for _ in range(3):
    kernel.iopub_socket.send_multipart(frames)


# %% long_numbers
"""Send a signed message of long numbers, each of which takes long to be read.

layer: messages
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import json

kernel = get_ipython().kernel
parent = json.dumps(kernel.get_parent("shell")["header"], default=str).encode()
header = json.dumps(kernel.session.msg_header("stream"), default=str).encode()
content = b'{"a":[' + b",".join([b"7" * 4_300] * 8_000) + b"]}"
frames = [header, parent, b"{}", content]
signed = [b"<IDS|MSG>", kernel.session.sign(frames), *frames]
for _ in range(8):
    kernel.iopub_socket.send_multipart(signed)


# %% unfinished_message
"""Begin a message in each connection and never finish it.

layer: messages
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 1
"""

import os
import socket
import time


def accepted(channel):
    """Copies of the kernel's ends of the connections on a channel."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                end = socket.socket(fileno=os.dup(int(number)))
                end.getpeername()
                if str(end.getsockname()).endswith(f"/{channel}"):
                    yield end
        except OSError:
            continue


for channel in ("iopub", "shell"):
    for end in accepted(channel):
        end.send(b"\x01\x05begun\x00\x40and")
time.sleep(3)
