"""Kernel interfaces that a container has no use for."""

# %% accounting
"""Have every process of the machine written down in a file.

layer: calls
plain: depends, on how Linux was built and the rights of the user
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.acct(None) == 0:  # to none: it is off, as it was
    print(MARKER)


# %% another_linux
"""Have another Linux started in the place of this one.

layer: calls
plain: skipped, Linux refuses these arguments even to root
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 246, "aarch64": 104}[platform.machine()]
libc.syscall(number, 0, 1_000_000, None, 0)  # more segments than there can be
if ctypes.get_errno() not in (1, 38):
    print(MARKER)


# %% another_user
"""Become another user.

layer: users
plain: succeeds as root
"""

import os

child = os.fork()
if child == 0:
    for user in (0, 65534, 1):
        try:
            os.setgroups([])
            os.setresuid(user, user, user)
        except OSError:
            continue
        os._exit(7)
    os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% bpf
"""Load a program into Linux.

layer: calls
plain: depends, on how Linux was built and the rights of the user
"""

import ctypes
import os
import platform
import struct

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
table = ctypes.create_string_buffer(struct.pack("5I", 2, 4, 4, 1, 0), 128)  # an array of one number
descriptor = libc.syscall(number, 0, table, 128)
if descriptor >= 0:
    os.close(descriptor)
    print(MARKER)


# %% calls_of_32_bits
"""Make the system calls of 32-bit programs, which have other numbers.

layer: calls
plain: depends, on the processor and how Linux was built
"""

import ctypes
import mmap
import os

assert os.uname().machine == "x86_64", "there are none"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000 cd80 c3"))  # getpid by int 0x80
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
child = os.fork()
if child == 0:
    os._exit(7 if call() == os.getpid() else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% calls_of_x32
"""Make system calls by the numbers of x32, which some filters do not know.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import os

assert os.uname().machine == "x86_64", "there are none"
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    os._exit(7 if libc.syscall(0x40000000 | 39) == os.getpid() else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% capabilities
"""Get back a capability.

layer: users
plain: succeeds as root
"""

import ctypes
import os
import struct

libc, version, everything = ctypes.CDLL(None, use_errno=True), 0x20080522, 0xFFFFFFFF
child = os.fork()
if child == 0:
    wanted = struct.pack("6I", *(1 << 21, 1 << 21, 0, 0, 0, 0))  # to administer the system
    os._exit(7 if libc.capset(struct.pack("Ii", version, 0), wanted) == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% clock
"""Set the clock of the machine.

layer: calls
plain: skipped, it would change the time of the machine by a moment
"""

import time

time.clock_settime(time.CLOCK_REALTIME, time.time())
print(MARKER)


# %% host_name
"""Change the name of the host.

layer: calls
plain: succeeds as root
"""

import socket

name = socket.gethostname()
socket.sethostname(name)
print(MARKER)


# %% io_uring
"""Set up a ring by which calls are made past the filter.

layer: calls
plain: depends, on how Linux was built and set
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
descriptor = libc.syscall(425, 4, ctypes.create_string_buffer(120))
if descriptor >= 0:
    os.close(descriptor)
    print(MARKER)


# %% key_made
"""Keep a key in Linux, where it would outlive the session.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
make, change = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
key = libc.syscall(make, b"user", b"sandbox-check", b"x", 1, -3)
if key > 0:
    libc.syscall(change, 3, key)  # revoke
    print(MARKER)


# %% keyrings
"""Join or read a ring of keys of the user (CVE-2016-0728).

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
change = {"x86_64": 250, "aarch64": 219}[platform.machine()]
if libc.syscall(change, 0, -3, 0) > 0 or libc.syscall(change, 0, -4, 0) > 0:
    print(MARKER)


# %% keys_listed
"""Read which keys the users of the machine have.

layer: users
plain: depends, on how Linux was built
"""

if open("/proc/keys").read().strip():
    print(MARKER)


# %% messages_of_linux
"""Read the messages of Linux by their call.

layer: calls
plain: depends, on a setting of the machine
"""

import ctypes

libc, read_all = ctypes.CDLL(None, use_errno=True), 3
if libc.klogctl(read_all, ctypes.create_string_buffer(4096), 4096) > 0:
    print(MARKER)


# %% modules
"""Load a module into Linux.

layer: calls
plain: skipped, Linux refuses these arguments even to root
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
init, init_by_file = {"x86_64": (175, 313), "aarch64": (105, 273)}[platform.machine()]
for number, arguments in ((init, (b"", 0, b"")), (init_by_file, (-1, b"", 0))):
    libc.syscall(number, *arguments)
    if ctypes.get_errno() not in (1, 38):  # it was let in, and looked at what it was given
        print(MARKER)
        break


# %% mount
"""Mount a file system of its own.

layer: calls
plain: succeeds as root
"""

import ctypes
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
place = tempfile.mkdtemp().encode()
if libc.mount(b"none", place, b"tmpfs", 0, None) == 0:
    print(MARKER)
    libc.umount2(place, 2)


# %% mount_again
"""Make a read-only part of the file system writable.

layer: calls
plain: skipped, it would change the mounts of the machine
"""

import ctypes

libc, again_and_bound = ctypes.CDLL(None, use_errno=True), 32 | 4096
for place in (b"/", b"/usr", b"/opt/room/guest", b"/proc/sys", b"/dev"):
    if libc.mount(b"none", place, None, again_and_bound, None) == 0:
        print(MARKER)
        break


# %% mount_by_new_calls
"""Mount a file system by the calls that replace `mount`: fsopen, open_tree, move_mount, fspick, mount_setattr.

layer: calls
plain: succeeds as root
"""

import ctypes
import os
import struct

libc, here = ctypes.CDLL(None, use_errno=True), -100
attributes = ctypes.create_string_buffer(struct.pack("4Q", 0, 1, 0, 0), 32)
asked = {
    430: (b"tmpfs", 0),
    428: (here, b"/", 1),
    429: (here, b"/tmp", here, b"/tmp", 0),
    433: (here, b"/", 0),
    442: (here, b"/nowhere", 0, attributes, 32),
}
for number, arguments in asked.items():
    descriptor = libc.syscall(number, *arguments)
    if descriptor >= 0:
        os.close(descriptor)
        print(MARKER)
        break


# %% mount_removed
"""Uncover what lies below a mount.

layer: calls
plain: skipped, it would change the mounts of the machine
"""

import ctypes

libc, lazily = ctypes.CDLL(None, use_errno=True), 2
for place in (b"/proc/sys", b"/opt/room/images", b"/proc", b"/tmp"):
    if libc.umount2(place, lazily) == 0:
        print(MARKER)
        break


# %% namespaces_by_pidfd
"""Enter the namespaces of a process of the host by a descriptor of the process.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc, network = ctypes.CDLL(None, use_errno=True), 0x40000000
for pid in (TARGET["victim_pid"], 1):
    child = os.fork()
    if child == 0:
        try:
            os._exit(7 if libc.setns(os.pidfd_open(pid), network) == 0 else 1)
        finally:
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
        print(MARKER)
        break


# %% namespaces_of_the_host
"""Enter the namespaces of a process of the host.

layer: calls
plain: succeeds as root
"""

import ctypes
import os


def enters(pid, name):
    child = os.fork()
    if child == 0:
        try:
            os._exit(7 if libc.setns(os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY), 0) == 0 else 1)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


libc = ctypes.CDLL(None, use_errno=True)
pids = (TARGET["victim_pid"], TARGET["host_pid"], 1)
if any(enters(pid, name) for pid in pids for name in ("net", "ipc", "uts", "mnt", "user", "pid")):
    print(MARKER)


# %% old_calls
"""Make calls that nobody needs any more: nfsservctl, uselib, ustat, sysfs, _sysctl, modify_ldt, iopl.

layer: calls
plain: depends, on how Linux was built and the processor
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (180, 134, 136, 139, 156, 154, 172), "aarch64": (42,)}[platform.machine()]
for number in numbers:
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0)
    if ctypes.get_errno() not in (1, 38):
        print(MARKER)
        break


# %% other_namespaces
"""Get namespaces of its own: mounts, host name, IPC, network, processes, control groups, time.

layer: calls
plain: succeeds as root
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x20000, 0x4000000, 0x8000000, 0x40000000, 0x20000000, 0x2000000, 0x80):
    child = os.fork()
    if child == 0:
        os._exit(7 if libc.unshare(flag) == 0 else 1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
        print(MARKER)
        break


# %% own_filter
"""Switch the filter of system calls off.

layer: calls
plain: skipped, there is none
"""

import ctypes
import os

libc, set_seccomp, off, refused = ctypes.CDLL(None, use_errno=True), 22, 0, 38
libc.prctl(set_seccomp, off, 0, 0, 0)
libc.unshare(0)
if ctypes.get_errno() != refused or "Seccomp:\t2" not in open("/proc/self/status").read():
    print(MARKER)


# %% page_faults
"""Handle the page faults of Linux, by which races are won.

layer: calls
plain: depends, on how Linux was built and the rights of the user
"""

import ctypes
import os
import platform

libc, in_user_mode_only = ctypes.CDLL(None, use_errno=True), 1
number = {"x86_64": 323, "aarch64": 282}[platform.machine()]
for flags in (0, in_user_mode_only):
    descriptor = libc.syscall(number, flags)
    if descriptor >= 0:
        os.close(descriptor)
        print(MARKER)
        break


# %% page_faults_by_device
"""Handle the page faults of Linux by their device.

layer: mounts
plain: depends, on how Linux was built and the rights of the user
"""

import os

os.close(os.open("/dev/userfaultfd", os.O_RDWR))
print(MARKER)


# %% performance_counters
"""Count the events of the processor, which tell secrets of other processes.

layer: calls
plain: depends, on a setting of the machine
"""

import ctypes
import os
import platform
import struct

libc, software, clock = ctypes.CDLL(None, use_errno=True), 1, 0
number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
asked = ctypes.create_string_buffer(struct.pack("IIQ", software, 112, clock), 112)
descriptor = libc.syscall(number, asked, 0, -1, -1, 0)
if descriptor >= 0:
    os.close(descriptor)
    print(MARKER)


# %% personality
"""Turn the random layout of memory off for what it starts.

layer: calls
plain: depends, some containers forbid it
"""

import ctypes
import os

libc, no_random_layout = ctypes.CDLL(None, use_errno=True), 0x0040000
child = os.fork()
if child == 0:
    os._exit(7 if libc.personality(no_random_layout) != -1 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% quotas
"""Change how much disk users may have.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 179, "aarch64": 60}[platform.machine()]
if libc.syscall(number, 0x80000100, None, 0, None) == 0:  # write every quota to its disk
    print(MARKER)


# %% restart
"""Restart the machine.

layer: calls
plain: skipped, Linux refuses these arguments even to root
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 169, "aarch64": 142}[platform.machine()]
libc.syscall(number, 0, 0, 0, None)  # without the magic numbers
if ctypes.get_errno() not in (1, 38):
    print(MARKER)


# %% root_changed
"""Take another folder for its root, and climb out of that.

layer: calls
plain: succeeds as root
"""

import os
import tempfile

child = os.fork()
if child == 0:
    try:
        os.chroot(tempfile.mkdtemp())
    finally:
        os._exit(7 if os.listdir("/") == [] else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% root_exchanged
"""Exchange the root of the file system for another one.

layer: calls
plain: succeeds as root
"""

import ctypes
import os
import platform
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
own_mounts, all_private = 0x20000, 0x44000
child = os.fork()
if child == 0:
    exchanged = False
    try:
        has_own = libc.unshare(own_mounts) == 0  # else root would change the machine
        if has_own:
            libc.mount(None, b"/", None, all_private, None)
            os.chdir(tempfile.mkdtemp())
            libc.mount(b"none", os.getcwdb(), b"tmpfs", 0, None)
            os.chdir(os.getcwd())
        else:
            os.chdir("/tmp")
        exchanged = (has_own or os.geteuid() != 0) and libc.syscall(number, b".", b".") == 0
    finally:
        os._exit(7 if exchanged else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% swap
"""Have memory written to a file of its own.

layer: calls
plain: skipped, Linux refuses a file without its header even to root
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.swapon(b"/nowhere", 0)
if ctypes.get_errno() not in (1, 38):
    print(MARKER)


# %% terminal_input
"""Type into the terminal of whoever started the host (CVE-2017-5226).

layer: calls
plain: depends, on a setting of the machine
"""

import fcntl
import os
import pty
import termios

leader, follower = pty.openpty()
try:
    fcntl.ioctl(follower, termios.TIOCSTI, b"x")
    print(MARKER)
finally:
    os.close(leader)
    os.close(follower)


# %% terminal_input_by_high_bits
"""Type into a terminal by a request whose high bits a filter may compare (CVE-2019-10063).

layer: calls
plain: depends, on a setting of the machine
"""

import ctypes
import os
import platform
import pty

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 16, "aarch64": 29}[platform.machine()]
leader, follower = pty.openpty()
try:
    if libc.syscall(number, follower, ctypes.c_uint64(0x1_0000_5412), b"x") == 0:
        print(MARKER)
finally:
    os.close(leader)
    os.close(follower)


# %% terminal_of_the_host
"""Write to a terminal of the host.

layer: mounts
plain: skipped, somebody may sit there
"""

import glob
import os

for path in ["/dev/tty", "/dev/console", "/dev/tty1", *glob.glob("/dev/pts/[0-9]*")]:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY))
    except OSError:
        continue
    print(MARKER)
    break


# %% user_map
"""Map its user to root in its own namespace.

layer: users
plain: fails
"""

import os

for path in ("/proc/self/uid_map", "/proc/1/uid_map", "/proc/self/gid_map"):
    try:
        with open(path, "w") as file:
            file.write("0 0 1")
    except OSError:
        continue
    print(MARKER)
    break


# %% user_namespace
"""Become root of a user namespace of its own.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os

libc, new_user = ctypes.CDLL(None, use_errno=True), 0x10000000
child = os.fork()
if child == 0:
    os._exit(7 if libc.unshare(new_user) == 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% user_namespace_by_clone
"""Start a child in a user namespace of its own.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
# From a child with one thread: Python's lock is not made anew for what this call starts, which would for ever
# offer it to threads that it has not got.
child = os.fork()
if child == 0:
    grandchild = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
    if grandchild > 0:
        os.waitpid(grandchild, 0)
    os._exit(7 if grandchild > 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)


# %% user_namespace_by_clone3
"""Start a child in a user namespace of its own by the call whose flags no filter can see.

layer: calls
plain: depends, on how the machine is set up
"""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
asked = ctypes.create_string_buffer(struct.pack("11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)
# From a child with one thread: Python's lock is not made anew for what this call starts, which would for ever
# offer it to threads that it has not got.
child = os.fork()
if child == 0:
    grandchild = libc.syscall(435, asked, 88)
    if grandchild > 0:
        os.waitpid(grandchild, 0)
    os._exit(7 if grandchild > 0 else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
