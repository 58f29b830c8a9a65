"""Reach the services of the host that give away more: Docker, D-Bus, systemd, X.

layer: mounts
plain: depends, on the services of the machine
"""

import socket

for path in (
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/systemd/journal/socket",
    "/tmp/.X11-unix/X0",
    "\0/tmp/.X11-unix/X0",
):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            continue
        print(MARKER)
        break
