"""A cell that does not end in time, or that will not be interrupted."""

# %% after_every_cell
"""Loop in what the kernel calls after every cell.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""


def again():
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


get_ipython().events.register("post_execute", again)


# %% caught_interrupt
"""Catch every exception and go on.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

while True:
    try:
        while True:
            pass
    except BaseException:
        pass


# %% crash
"""End the process by a fault in native code.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 3
"""

import ctypes

ctypes.string_at(0)


# %% every_signal_blocked
"""Block every signal and loop.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass


# %% exit_that_hangs
"""End the interpreter from native code, with a handler that hangs at its exit.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 0.5
"""

import atexit
import ctypes
import time

atexit.register(time.sleep, 20)
ctypes.pythonapi.Py_Exit(0)


# %% finalizer
"""Loop in the finalizer of an object, where an interrupt is swallowed.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""


class Last:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


last = Last()
del last


# %% handler_at_exit
"""Hang in a handler at the end of the process.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 3
"""

import atexit
import sys
import time

atexit.register(time.sleep, 3600)
sys.exit(0)


# %% handler_that_loops
"""Loop in the handler of the interrupt itself.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal


def again(number, frame):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        pass


signal.signal(signal.SIGINT, again)
while True:
    pass


# %% ignored_signal
"""Ignore the interrupt and loop.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    pass


# %% input
"""Wait for input that never comes.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import sys

sys.__stdin__.read()
input()


# %% interpreter_held
"""Hold the interpreter in a regular expression.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import re

re.match(r"(a+)+$", "a" * 60 + "b")


# %% joined_thread
"""Wait for a thread that never ends.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import threading

thread = threading.Thread(target=threading.Event().wait)
thread.start()
while thread.is_alive():
    try:
        thread.join()
    except BaseException:
        pass


# %% loop
"""Loop for ever.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

while True:
    pass


# %% one_long_operation
"""Hold the interpreter in one operation on a huge number.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

base = 7
x = base ** (10**9)


# %% output_without_end
"""Print for ever, and ignore the interrupt.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    print("x" * 1000)


# %% parent_suspended
"""Wait in Linux itself for a child that borrows the memory of the kernel; no signal but one gets through.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import ctypes
import os
import time

if ctypes.PyDLL(None).vfork() == 0:
    time.sleep(8)
    os._exit(0)


# %% refused_interrupt
"""End the thread that takes interrupts in, and loop.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

kernel = get_ipython().kernel
kernel.interrupt_request = lambda *arguments: None
kernel.control_thread.stop()
while True:
    pass


# %% sleep
"""Sleep for an hour.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import time

time.sleep(3600)


# %% sleep_with_the_interpreter
"""Sleep in native code that does not let go of the interpreter.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import ctypes

ctypes.PyDLL(None).sleep(20)


# %% stopped
"""Stop its own process.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)


# %% stopped_by_a_child
"""Have a child stop the kernel again and again.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import os
import signal
import time

parent = os.getpid()
if os.fork() == 0:
    end = time.monotonic() + 8
    while time.monotonic() < end:
        os.kill(parent, signal.SIGSTOP)
        time.sleep(0.01)
    os._exit(0)
while True:
    pass


# %% text_of_the_result
"""Loop in the text of the last value, and catch every exception there.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""


class Value:
    def __repr__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


Value()


# %% tracer
"""Raise the interrupt away in a trace function.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import sys


def again(frame, event, argument):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


sys.settrace(again)
(lambda: None)()
