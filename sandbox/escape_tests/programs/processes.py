"""See, signal, trace or outlive other processes."""

# %% compared
"""Learn addresses of Linux by the comparison of processes.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 312, "aarch64": 272}[platform.machine()]
if libc.syscall(number, os.getpid(), TARGET["victim_pid"], 1, 0, 0) >= 0:
    print(MARKER)


# %% descriptor_of_the_host
"""Take a descriptor out of a process of the host.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc, get = ctypes.CDLL(None, use_errno=True), 438
taken = libc.syscall(get, os.pidfd_open(TARGET["victim_pid"]), 0, 0)
if taken >= 0:
    os.close(taken)
    print(MARKER)


# %% dumped
"""Leave a dump of its memory, which Linux hands to a program of the host.

layer: limits
plain: skipped, it depends on the program of the machine
"""

import resource

if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0:
    print(MARKER)


# %% every_number_signalled
"""Send a signal to processes by trying numbers, far beyond its own.

layer: processes
plain: skipped, it would wake stopped processes of the machine
proof: host
"""

import os
import signal

for pid in range(1, 70_000):
    try:
        os.kill(pid, signal.SIGCONT)
    except OSError:
        continue


# %% everybody_signalled
"""Send a signal to every process of the machine.

layer: processes
plain: skipped, it would wake every stopped process of the machine
proof: host
"""

import os
import signal

os.kill(-1, signal.SIGCONT)


# %% first_process_ended
"""End the first process of the room, which holds it together.

layer: processes
plain: skipped, process 1 of the machine is not to be touched
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import os
import time

for number in (9, 15, 19):
    os.kill(1, number)
time.sleep(0.3)


# %% first_process_rewritten
"""Write into the first process of the room where fewer walls stand around that than around itself.

layer: calls
plain: skipped, process 1 of the machine is not to be touched
"""

import os


def walls(pid):
    lines = [line.split() for line in open(f"/proc/{pid}/status")]
    told = {line[0]: line[1] for line in lines if len(line) > 1}
    filters, privileges = int(told["Seccomp_filters:"]), int(told["NoNewPrivs:"])
    return filters, privileges, *(-int(told[name], 16) for name in ("CapEff:", "CapPrm:", "CapBnd:"))


own, first = walls("self"), walls(1)
if any(there < here for there, here in zip(first, own)):
    os.close(os.open("/proc/1/mem", os.O_RDWR))
    print(MARKER)


# %% first_process_traced
"""Trace the first process of the room.

layer: calls
plain: skipped, process 1 of the machine is not to be touched
"""

import ctypes

libc, attach, seize = ctypes.CDLL(None, use_errno=True), 16, 0x4206
for request in (attach, seize):
    if libc.ptrace(request, 1, None, None) == 0:
        print(MARKER)
        break


# %% host_ended
"""End a process of the host.

layer: processes
plain: succeeds
proof: host
"""

import os

os.kill(TARGET["victim_pid"], 9)


# %% host_ended_by_group
"""End a process of the host by its process group.

layer: processes
plain: succeeds
proof: host
"""

import os

os.killpg(TARGET["victim_pid"], 9)


# %% host_ended_by_pidfd
"""End a process of the host by a descriptor of the process.

layer: processes
plain: succeeds
proof: host
"""

import os
import signal

signal.pidfd_send_signal(os.pidfd_open(TARGET["victim_pid"]), 9)


# %% host_found
"""Find out whether the host runs.

layer: processes
plain: succeeds
"""

import os

os.kill(TARGET["victim_pid"], 0)
if open(f"/proc/{TARGET['victim_pid']}/comm").read() == "sleep\n":
    print(MARKER)


# %% host_listed
"""Find a process of the host in the list of processes.

layer: processes
plain: succeeds
"""

import os

known = {str(TARGET["victim_pid"]), str(TARGET["host_pid"])}
if known <= set(os.listdir("/proc")) and os.getppid():
    print(MARKER)


# %% host_stopped
"""Stop a process of the host.

layer: processes
plain: succeeds
proof: host
"""

import os
import signal

os.kill(TARGET["victim_pid"], signal.SIGSTOP)


# %% host_traced
"""Trace a process of the host.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc, seize = ctypes.CDLL(None, use_errno=True), 0x4206
child = os.fork()
if child == 0:  # the end of a tracer is the end of the trace
    os._exit(7 if libc.ptrace(seize, TARGET["victim_pid"], None, None) == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% killed_last_by_memory
"""Have Linux end other processes before itself when memory runs out.

layer: users
plain: depends, on how Linux was built and the rights of the user
"""

import os

with open("/proc/self/oom_score_adj", "r+") as file:
    before = file.read()
    file.seek(0)
    file.write(str(int(before) - 1))
with open("/proc/self/oom_score_adj", "w") as file:
    file.write(before)
print(MARKER)


# %% limits_by_the_first_process
"""Get past its limits by those of the first process of the room.

layer: limits
plain: skipped, process 1 of the machine is no concern of a test
"""

import resource

for name in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    if resource.prlimit(1, name)[1] == resource.RLIM_INFINITY:
        print(MARKER)
        break


# %% limits_of_the_host
"""Change the limits of a process of the host.

layer: processes
plain: succeeds
proof: host
"""

import resource

resource.prlimit(TARGET["victim_pid"], resource.RLIMIT_NOFILE, (77, 77))


# %% outlived_the_kernel
"""Leave a process that goes on after the end of its kernel.

layer: container
plain: succeeds
session: own
sessions: 2
"""

import os
import subprocess
import time

for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        told = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        continue
    if told.startswith("sleep\0") and told.rstrip("\0").endswith("86.41"):
        print(MARKER)
        os.kill(int(pid), 9)
        break
else:
    if os.fork() == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "86.41"])
        finally:
            os._exit(0)
    os.wait()
    time.sleep(0.1)


# %% own_child_traced
"""Trace a child, by which the filter of another process could be seen and changed.

layer: calls
plain: succeeds as root
"""

import ctypes
import os
import time

libc, attach, detach = ctypes.CDLL(None, use_errno=True), 16, 17
child = os.fork()
if child == 0:
    time.sleep(2)
    os._exit(0)
try:
    if libc.ptrace(attach, child, None, None) == 0:
        os.waitpid(child, 0)
        libc.ptrace(detach, child, None, None)
        print(MARKER)
finally:
    os.kill(child, 9)
    os.waitpid(child, 0)


# %% own_priority
"""Get ahead of every other process.

layer: users
plain: succeeds as root
"""

import os

child = os.fork()
if child == 0:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -10)
        os._exit(7)
    finally:
        os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% priority_of_the_host
"""Slow a process of the host down.

layer: processes
plain: succeeds
proof: host
"""

import os

os.setpriority(os.PRIO_PROCESS, TARGET["victim_pid"], 15)


# %% processors_of_the_host
"""Bind a process of the host to one processor.

layer: processes
plain: depends, on whether there are two
proof: host
"""

import os

os.sched_setaffinity(TARGET["victim_pid"], {min(os.sched_getaffinity(0))})


# %% real_time
"""Run in real time, before everything else on the machine.

layer: users
plain: depends, on the rights of the user and the control groups of the machine
"""

import os

child = os.fork()
if child == 0:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os._exit(7)
    finally:
        os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% host_signalled_by_a_descriptor
"""Have Linux send a signal to a process of the host when a pipe becomes ready (F_SETOWN, F_SETSIG, O_ASYNC).

layer: processes
plain: succeeds
proof: host
"""

import fcntl
import os
import signal
import struct
import time

read, write = os.pipe()
for own in (
    lambda: fcntl.fcntl(read, fcntl.F_SETOWN, TARGET["victim_pid"]),
    lambda: fcntl.fcntl(read, 15, struct.pack("ii", 1, TARGET["victim_pid"])),  # F_SETOWN_EX
    lambda: fcntl.ioctl(read, 0x8901, struct.pack("i", TARGET["victim_pid"])),  # FIOSETOWN
):
    try:
        own()
        fcntl.fcntl(read, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
        os.write(write, b"x")
        time.sleep(0.05)
    except OSError:
        continue
os.close(read)
os.close(write)
