"""Find the abstract sockets of the host in the tables of Linux.

layer: network
plain: succeeds
"""

if TARGET["abstract"] in open("/proc/net/unix").read():
    print(MARKER)
