"""Read the password hashes of the host.

layer: mounts
plain: succeeds as root
"""

if "root:" in open("/etc/shadow").read():
    print(MARKER)
