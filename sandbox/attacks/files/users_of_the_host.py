"""Read the names of the users of the host.

layer: mounts
plain: succeeds
"""

if "root:" in open("/etc/passwd").read():
    print(MARKER)
