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
