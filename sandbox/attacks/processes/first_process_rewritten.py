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
