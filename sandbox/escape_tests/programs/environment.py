"""Environment variables and command lines of the host."""

# %% arguments
"""Find a folder of the host in the arguments of any process.

layer: processes
plain: skipped, arguments are told to everybody there
"""

import glob

for path in glob.glob("/proc/[0-9]*/cmdline"):
    if TARGET["outside"].rpartition("-")[0].encode() in open(path, "rb").read():
        print(MARKER)
        break


# %% key_to_a_service
"""Print the keys to services that it finds in the environment of any process.

layer: environment
plain: succeeds
proof: host
"""

import glob
import os
import re

found = {f"{name}={value}".encode() for name, value in os.environ.items()}
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        found |= set(open(path, "rb").read().split(b"\0"))
    except OSError:
        continue
for each in found:
    if re.fullmatch(rb"SANDBOX_CHECK_\w+_API_KEY=sk-canary-\w+", each):
        print(each.decode())


# %% of_a_child
"""Find a secret in the environment of a child.

layer: environment
plain: succeeds
"""

import subprocess

if TARGET["secret_name"] in subprocess.run(["/usr/bin/env"], capture_output=True, text=True).stdout:
    print(MARKER)


# %% of_everybody
"""Find a secret in the environment of any process.

layer: processes
plain: succeeds
"""

import glob
import hashlib
import re

found = set()
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/task/*/environ"):
    try:
        found |= set(re.findall(rb"canary-[0-9a-f]{32}", open(path, "rb").read()))
    except OSError:
        continue
if any(hashlib.sha256(each).hexdigest() == TARGET["secret_sha256"] for each in found):
    print(MARKER)


# %% of_the_first_process
"""Find anything in the environment of process 1, where bubblewrap would leave what it was started with.

layer: environment
plain: skipped, process 1 of the machine is no concern of a test
"""

if open("/proc/1/environ", "rb").read().strip(b"\0"):
    print(MARKER)


# %% own_memory
"""Find a secret of the host in its own memory, as the template may have left it there.

layer: environment
plain: succeeds
"""

import hashlib
import re

pattern, found = re.compile(rb"canary-[0-9a-f]{32}"), set()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in maps:
        where, rights, *_ = line.split()
        start, end = (int(each, 16) for each in where.split("-"))
        if rights[0] != "r" or end - start > 64 * 2**20 or line.endswith(("[vvar]\n", "[vsyscall]\n")):
            continue
        try:
            memory.seek(start)
            found |= set(pattern.findall(memory.read(end - start)))
        except (OSError, ValueError):
            continue
if any(hashlib.sha256(each).hexdigest() == TARGET["secret_sha256"] for each in found):
    print(MARKER)


# %% own_start
"""Find a secret in the environment that its process was started with.

layer: environment
plain: succeeds
"""

if TARGET["secret_name"].encode() in open("/proc/self/environ", "rb").read():
    print(MARKER)


# %% own_variables
"""Find a secret in its own environment.

layer: environment
plain: succeeds
"""

import os

if TARGET["secret_name"] in os.environ:
    print(MARKER)
