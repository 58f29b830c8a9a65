"""Find out which servers of names the host asks.

layer: mounts
plain: depends, on the files of the machine
"""

if "nameserver" in open("/etc/resolv.conf").read():
    print(MARKER)
