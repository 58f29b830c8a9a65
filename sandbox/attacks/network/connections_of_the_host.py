"""Find the connections of the host in the tables of Linux.

layer: network
plain: succeeds
"""

port = f":{TARGET['tcp'][1]:04X} "
if any(port in open(f"/proc/{where}/net/tcp").read() for where in ("self", "1", "thread-self")):
    print(MARKER)
