"""Find anything in the environment of process 1, where bubblewrap would leave what it was started with.

layer: environment
plain: skipped, process 1 of the machine is no concern of a test
"""

if open("/proc/1/environ", "rb").read().strip(b"\0"):
    print(MARKER)
