"""Read, change or reveal files outside the session."""

# %% compiled_cache
"""Leave compiled code beside the modules of the interpreter.

layer: mounts
plain: depends, on who owns the interpreter
"""

import json
import os

path = os.path.join(os.path.dirname(json.__file__), "__pycache__", "sandbox_check.pyc")
with open(path, "wb"):
    pass
os.unlink(path)
print(MARKER)


# %% control_groups
"""Make a control group of its own, or leave its own.

layer: mounts
plain: depends, on the rights of the user and the control groups of the machine
"""

import glob
import os

for place in [*glob.glob("/sys/fs/cgroup/*/"), "/sys/fs/cgroup/", "/tmp/"]:
    if not os.path.exists(place + "cgroup.procs"):
        continue
    try:
        os.close(os.open(place + "cgroup.procs", os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break


# %% core_pattern
"""Open the setting that names the program for core dumps, which Linux starts as root.

layer: mounts
plain: succeeds as root
"""

import os

os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
print(MARKER)


# %% device_made
"""Make the node of a device of its own, and open it.

layer: users
plain: depends, on the rights of the user
"""

import os
import stat
import tempfile

path = tempfile.mktemp()
os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 11))  # the messages of Linux
try:
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    print(MARKER)
finally:
    os.unlink(path)


# %% disks
"""Read the disk of the machine as a device.

layer: mounts
plain: depends, on the devices of the machine and the rights of the user
"""

import glob
import os

for device in (
    glob.glob("/dev/sd*") + glob.glob("/dev/vd*") + glob.glob("/dev/nvme*") + glob.glob("/dev/loop*")
):
    try:
        os.close(os.open(device, os.O_RDONLY))
    except OSError:
        continue
    print(MARKER)
    break


# %% files_of_others
"""Read what other processes have open through their descriptors.

layer: processes
plain: succeeds as root
"""

import glob
import os

here = os.stat("/proc/self/ns/pid").st_ino
names = set()
for descriptor in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        names.add(os.readlink(descriptor))
    except OSError:
        continue
if any(name.startswith(("/var/", "/home/", "/root/")) for name in names):
    print(MARKER)
elif os.path.exists(f"/proc/{TARGET['host_pid']}/fd") and os.listdir(f"/proc/{TARGET['host_pid']}/fd"):
    print(MARKER)


# %% guest_changed
"""Change the code that every later kernel starts from.

layer: mounts
plain: skipped, there is no such folder
"""

import glob
import os

for path in glob.glob("/opt/room/guest/*.py"):
    os.close(os.open(path, os.O_RDWR))
    print(MARKER)


# %% guest_renamed
"""Put a folder of its own in the place of the guest's code.

layer: mounts
plain: skipped, there is no such folder
"""

import os

os.rename("/opt/room/guest", "/opt/room/guest-moved")
os.rename("/opt/room/guest-moved", "/opt/room/guest")
print(MARKER)


# %% handle
"""Open a file of the host by its handle, past every path.

layer: calls
plain: depends, on the file system of the temporary folder and the rights of the user
"""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
root = os.open("/", os.O_RDONLY)
for number in (2, 128, 256):  # the root of ext4, xfs and btrfs
    handle = struct.pack("<IiII", 8, 1, number, 0)
    if libc.open_by_handle_at(root, ctypes.create_string_buffer(handle), os.O_RDONLY) >= 0:
        print(MARKER)
        break


# %% hard_link
"""Make a hard link to a file of the host.

layer: mounts
plain: succeeds
"""

import hashlib
import os

link = TARGET["secret_file"] + ".link"
os.link(TARGET["secret_file"], link)
try:
    found = open(link).read()
finally:
    os.unlink(link)
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)


# %% images_changed
"""Write into the folder that the images come from.

layer: mounts
plain: skipped, there is no such folder
"""

import os

os.close(os.open("/opt/room/images/made", os.O_CREAT | os.O_WRONLY))
print(MARKER)


# %% interpreter_of_the_first_process
"""Write to the program of process 1, which is the host's (CVE-2019-5736).

layer: mounts
plain: skipped, process 1 of the machine is not to be touched
"""

import os
import time

for _ in range(20):
    try:
        os.close(os.open("/proc/1/exe", os.O_WRONLY))
    except OSError as refused:
        if refused.errno not in (26, 30, 13):
            raise
        time.sleep(0.005)
        continue
    print(MARKER)
    break


# %% key_to_a_service
"""Print the key to a service that lies in a file of the home.

layer: mounts
plain: succeeds
proof: host
"""

import glob
import os

for path in {TARGET["key_file"], *glob.glob(os.path.dirname(TARGET["key_file"]) + "/.canary-*.env")}:
    print(open(path).read())


# %% messages_of_linux
"""Read the messages of Linux.

layer: mounts
plain: depends, on the devices of the machine and the rights of the user
"""

import os

file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
if os.read(file, 8192):
    print(MARKER)
os.close(file)


# %% name_of_the_machine
"""Read what tells this machine from all others.

layer: mounts
plain: depends, on the files of the machine
"""

for path in (
    "/etc/machine-id",
    "/var/lib/dbus/machine-id",
    "/etc/hostname",
    "/sys/class/dmi/id/product_uuid",
):
    try:
        if open(path).read().strip() not in ("", "room"):
            print(MARKER)
            break
    except OSError:
        continue


# %% namespace_settings
"""Allow itself more namespaces in the settings of Linux.

layer: mounts
plain: depends, on the rights of the user
"""

import glob
import os

for path in glob.glob("/proc/sys/user/max_*"):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break


# %% outside
"""Make a file in a folder of the host that anybody may write to.

layer: mounts
plain: succeeds
proof: host
"""

import os

with open(os.path.join(TARGET["outside"], "made"), "w") as file:
    file.write(MARKER)


# %% own_interpreter
"""Write to the interpreter that it runs in, which is the host's (CVE-2019-5736).

layer: mounts
plain: depends, on who owns the interpreter
"""

import os
import shutil
import tempfile

program = os.path.realpath("/proc/self/exe")
try:
    os.close(os.open("/proc/self/exe", os.O_RDWR))
except OSError as refused:
    if refused.errno == 26:  # ETXTBSY: only that it runs protects it, and one waits for its end
        with open(os.path.join(os.path.dirname(program), "sandbox-check"), "w") as file:
            pass
        os.unlink(file.name)
        print(MARKER)
    else:
        raise
else:
    print(MARKER)


# %% packages_changed
"""Change a package that later sessions import.

layer: mounts
plain: depends, on who owns the interpreter
"""

import json
import os

import numpy

for module in (numpy, json):
    try:
        os.close(os.open(module.__file__, os.O_RDWR))
    except OSError:
        continue
    print(MARKER)
    break


# %% parents
"""Walk up out of the working directory with many steps of `..`.

layer: mounts
plain: succeeds
"""

import hashlib

found = open("../" * 40 + TARGET["secret_file"].lstrip("/")).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)


# %% password_hashes
"""Read the password hashes of the host.

layer: mounts
plain: succeeds as root
"""

if "root:" in open("/etc/shadow").read():
    print(MARKER)


# %% physical_memory
"""Open the memory of the machine as a device.

layer: mounts
plain: depends, on the devices of the machine and the rights of the user
"""

import os

for device in ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"):
    try:
        os.close(os.open(device, os.O_RDONLY))
    except OSError:
        continue
    print(MARKER)
    break


# %% project
"""Find the project that the host was started in.

layer: mounts
plain: depends, on where the host was started
"""

import os

folder = os.readlink(f"/proc/{TARGET['host_pid']}/cwd")
if os.listdir(folder):
    print(MARKER)


# %% root_of_others
"""Look at the files of the host through the root of any process.

layer: processes
plain: succeeds
"""

import glob
import hashlib

for root in glob.glob("/proc/[0-9]*/root") + ["/proc/1/cwd/../../../.."]:
    try:
        found = open(root + TARGET["secret_file"]).read()
    except OSError:
        continue
    if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
        print(MARKER)
        break


# %% secret_in_home
"""Read a secret from the home of the user.

layer: mounts
plain: succeeds
"""

import hashlib

found = open(TARGET["home_file"]).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)


# %% secret_in_temp
"""Read a secret from the temporary folder of the host.

layer: mounts
plain: succeeds
"""

import hashlib

found = open(TARGET["secret_file"]).read()
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)


# %% secret_overwritten
"""Change a file of the host.

layer: mounts
plain: succeeds
proof: host
"""

with open(TARGET["secret_file"], "r+") as file:
    file.write("changed")


# %% set_uid_file
"""Make a set-uid program that stays on the host.

layer: mounts
plain: succeeds
proof: host
"""

import os
import shutil

path = os.path.join(TARGET["outside"], "shell")
shutil.copy("/bin/true", path)
os.chmod(path, 0o4755)
if os.stat(path).st_mode & 0o4000:
    print(MARKER)


# %% set_uid_program
"""Find the set-uid programs of the system at work.

layer: users
plain: depends, on whether new privileges are forbidden to whoever runs it
"""

import ctypes
import os

libc, get_no_new_privileges = ctypes.CDLL(None), 39
for program in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"):
    works = os.path.exists(program) and os.stat(program).st_mode & 0o4000
    if (
        works
        and libc.prctl(get_no_new_privileges, 0, 0, 0, 0) == 0
        and not os.statvfs(program).f_flag & os.ST_NOSUID
    ):
        print(MARKER)
        break


# %% symbolic_link
"""Follow a symbolic link of its own to a file of the host.

layer: mounts
plain: succeeds
"""

import hashlib
import os
import tempfile

link = tempfile.mktemp()
os.symlink(TARGET["secret_file"], link)
try:
    found = open(link).read()
finally:
    os.unlink(link)
if hashlib.sha256(found.encode()).hexdigest() == TARGET["secret_sha256"]:
    print(MARKER)


# %% sysfs
"""Open a setting of a device below /sys for writing.

layer: mounts
plain: succeeds as root
"""

import glob
import os

for path in ("/sys/power/state", "/sys/kernel/uevent_helper", *glob.glob("/sys/class/net/lo/mtu")):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break


# %% sysrq
"""Open the trigger that can halt the machine.

layer: mounts
plain: depends, on how Linux was built and the rights of the user
"""

import os

os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
print(MARKER)


# %% system_settings
"""Change a setting of Linux below /proc/sys.

layer: mounts
plain: succeeds as root
"""

import os

for name in ("kernel/hostname", "kernel/modprobe", "vm/drop_caches", "fs/file-max", "net/ipv4/ip_forward"):
    try:
        os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break


# %% users_of_the_host
"""Read the names of the users of the host.

layer: mounts
plain: succeeds
"""

if "root:" in open("/etc/passwd").read():
    print(MARKER)


# %% attributes_of_the_host
"""Change the attributes of a file of the host without opening it: its rights, its times, an extended attribute.

layer: mounts
plain: succeeds
"""

import os

path = TARGET["secret_file"]
try:
    before = os.stat(path)
except OSError:
    before = None
if before:
    attempts = (
        lambda: os.chmod(path, 0o600 if before.st_mode & 0o077 else 0o666),
        lambda: os.utime(path, (1, 1)),
        lambda: os.setxattr(path, "user.escape", b"1"),
    )
    for attempt in attempts:
        try:
            attempt()
        except OSError:
            continue
    after = os.stat(path)
    if (after.st_mode, after.st_mtime) != (before.st_mode, before.st_mtime):
        print(MARKER)
    elif hasattr(os, "listxattr") and "user.escape" in os.listxattr(path):
        print(MARKER)
    os.chmod(path, 0o666)
    os.utime(path, (before.st_atime, before.st_mtime))


# %% emptied_by_opening
"""Empty a file of the host that can only be read, by opening it to be read and truncated, or by truncate.

layer: mounts
plain: succeeds
"""

import os

for path in (TARGET["secret_file"], TARGET["home_file"]):
    for empty in (
        lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
        lambda: os.truncate(path, 0),
    ):
        try:
            empty()
        except OSError:
            continue
        print(MARKER)
