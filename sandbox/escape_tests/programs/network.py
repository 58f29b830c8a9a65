"""Reach anything over a network."""

# %% abstract_socket
"""Reach an abstract socket of the host, which has no file.

layer: network
plain: succeeds
proof: host
"""

import socket

with socket.socket(socket.AF_UNIX) as client:
    client.connect("\0" + TARGET["abstract"])
    client.sendall(MARKER.encode())


# %% abstract_sockets_listed
"""Find the abstract sockets of the host in the tables of Linux.

layer: network
plain: succeeds
"""

if TARGET["abstract"] in open("/proc/net/unix").read():
    print(MARKER)


# %% address_added
"""Give the loopback another address by the routes of Linux.

layer: users
plain: depends, on the rights of the user
"""

import socket
import struct

lo, address = socket.if_nametoindex("lo"), socket.inet_aton("127.77.0.1")
attributes = struct.pack("HH4s", 8, 2, address) + struct.pack("HH4s", 8, 1, address)


def ask(kind, flags):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        route.bind((0, 0))
        change = struct.pack("BBBBI", socket.AF_INET, 32, 0, 254, lo) + attributes
        route.send(struct.pack("IHHII", 16 + len(change), kind, flags, 1, 0) + change)
        return struct.unpack_from("i", route.recv(4096), 16)[0]


if ask(20, 0x605) == 0:
    ask(21, 5)
    print(MARKER)


# %% another_machine
"""Find a way to another machine.

layer: network
plain: depends, on whether the machine has a network
"""

import socket

for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        try:
            client.connect((address, 9))  # asks for a way, and sends nothing
        except OSError:
            continue
        print(MARKER)
        break


# %% ciphers
"""Reach the ciphers of Linux by a socket.

layer: calls
plain: depends, on how Linux was built
"""

import socket

with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as cipher:
    cipher.bind(("hash", "sha256"))
    print(MARKER)


# %% connections_of_the_host
"""Find the connections of the host in the tables of Linux.

layer: network
plain: succeeds
"""

port = f":{TARGET['tcp'][1]:04X} "
if any(port in open(f"/proc/{where}/net/tcp").read() for where in ("self", "1", "thread-self")):
    print(MARKER)


# %% interfaces
"""Find an interface of the network besides the loopback.

layer: network
plain: depends, on whether the machine has a network
"""

import socket

if [name for _, name in socket.if_nameindex() if name != "lo"]:
    print(MARKER)


# %% loopback_down
"""Take the loopback down by the routes of Linux.

layer: users
plain: skipped, it would cut the machine off
"""

import socket
import struct

lo = socket.if_nametoindex("lo")
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
    route.bind((0, 0))
    change = struct.pack("BxHiII", 0, 0, lo, 0, 1)  # no longer up
    route.send(struct.pack("IHHII", 16 + len(change), 16, 5, 1, 0) + change)
    if struct.unpack_from("i", route.recv(4096), 16)[0] == 0:
        print(MARKER)


# %% multicast
"""Join a group of machines that speak to each other.

layer: network
plain: depends, on the network of the machine
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    group = socket.inet_aton("224.0.0.251") + socket.inet_aton("0.0.0.0")
    client.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    print(MARKER)


# %% names
"""Ask a server of names, which can carry secrets away.

layer: network
plain: skipped, it would ask the network
"""

import socket

if socket.getaddrinfo("example.invalid.example.com", 80):
    print(MARKER)


# %% other_netlink
"""Speak to other parts of Linux by netlink: audit, devices, packet filter, generic.

layer: calls
plain: succeeds
"""

import socket

for protocol in (9, 12, 15, 16, 4, 6):
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol).close()
    except OSError:
        continue
    print(MARKER)
    break


# %% own_sockets_of_the_host
"""Connect anew to the sockets that its host listens on for it, as another client.

layer: mounts
plain: skipped, a kernel has its own files there
"""

import glob
import socket

for path in {line.split()[-1] for line in open("/proc/net/unix") if "/" in line} | set(
    glob.glob("/tmp/**/k*/*", recursive=True)
):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            continue
        print(MARKER)
        break


# %% packets
"""Listen to every packet of the machine.

layer: calls
plain: depends, on the rights of the user and how Linux was built
"""

import socket

socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()
print(MARKER)


# %% ping
"""Send an echo request by a socket that needs no rights.

layer: calls
plain: depends, on a setting of the machine
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as client:
    client.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", ("192.0.2.1", 0))
    print(MARKER)


# %% rare_families
"""Open a socket of a family that nobody needs, and where faults were found.

layer: calls
plain: depends, on how Linux was built
"""

import socket

# AX25, X25, IrDA, Bluetooth, CAN, TIPC, RDS, LLC, KCM, XDP, QIPCRTR, SMC, SCTP by name of its protocol
for family, kind, protocol in (
    *(
        (family, kind, 0)
        for family in (3, 9, 23, 31, 29, 30, 21, 26, 41, 44, 42, 43)
        for kind in (1, 2, 3, 5)
    ),
    (2, 1, 132),
    (2, 1, 262),
    (2, 2, 136),
):
    try:
        socket.socket(family, kind, protocol).close()
    except OSError:
        continue
    print(MARKER)
    break


# %% raw
"""Open a socket for packets of its own making.

layer: calls
plain: succeeds as root
"""

import socket

for family, protocol in (
    (socket.AF_INET, socket.IPPROTO_ICMP),
    (socket.AF_INET, socket.IPPROTO_RAW),
    (socket.AF_INET6, 58),
):
    try:
        socket.socket(family, socket.SOCK_RAW, protocol).close()
    except OSError:
        continue
    print(MARKER)
    break


# %% resolver
"""Find out which servers of names the host asks.

layer: mounts
plain: depends, on the files of the machine
"""

if "nameserver" in open("/etc/resolv.conf").read():
    print(MARKER)


# %% services
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


# %% socket_file
"""Reach a socket of the host by its file.

layer: mounts
plain: succeeds
proof: host
"""

import socket

with socket.socket(socket.AF_UNIX) as client:
    client.connect(TARGET["unix"])
    client.sendall(MARKER.encode())


# %% tcp
"""Reach a TCP server on the loopback of the host.

layer: network
plain: succeeds
proof: host
"""

import socket

with socket.create_connection(TARGET["tcp"], timeout=2) as client:
    client.sendall(MARKER.encode())


# %% tcp6
"""Reach a TCP server on the loopback of the host by version 6.

layer: network
plain: depends, on version 6 of the protocol
proof: host
"""

import socket

with socket.create_connection(TARGET["tcp6"], timeout=2) as client:
    client.sendall(MARKER.encode())


# %% tcp6_mapped
"""Reach a TCP server of the host by an address of version 4 within version 6.

layer: network
plain: depends, on version 6 of the protocol
proof: host
"""

import socket

host, port = TARGET["tcp"]
with socket.create_connection((f"::ffff:{host}", port), timeout=2) as client:
    client.sendall(MARKER.encode())


# %% tcp_by_another_name
"""Reach a TCP server of the host by other addresses of the loopback.

layer: network
plain: succeeds
proof: host
"""

import socket

for host in ("localhost", "127.0.0.1", "0.0.0.0", "2130706433"):
    try:
        with socket.create_connection((host, TARGET["tcp"][1]), timeout=1) as client:
            client.sendall(MARKER.encode())
    except OSError:
        continue


# %% tcp_fast_open
"""Send data with the first packet of a connection, past checks of `connect`.

layer: network
plain: depends, on a setting of the machine
proof: host
"""

import socket

with_first_packet = 0x20000000
with socket.socket() as client:
    client.sendto(MARKER.encode(), with_first_packet, tuple(TARGET["tcp"]))


# %% udp
"""Send a packet to a UDP server of the host.

layer: network
plain: succeeds
proof: host
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.sendto(MARKER.encode(), tuple(TARGET["udp"]))


# %% udp_broadcast
"""Send a packet to everybody on the network of the host.

layer: network
plain: skipped, it would reach other machines
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    client.sendto(MARKER.encode(), ("255.255.255.255", 9))
    print(MARKER)


# %% virtual_machines
"""Speak to the hypervisor or to other virtual machines.

layer: calls
plain: depends, on how Linux was built
"""

import socket

socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
print(MARKER)


# %% datagram_from_a_pair
"""Send a datagram to a socket of the host, from one of a pair that is connected already.

layer: mounts
plain: fails
"""

import os
import socket

# The server of the host is a stream: another error than "permission denied" or "not found" means that it was found.
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for address in (TARGET["unix"], "\0" + TARGET["abstract"], "/dev/log", "/run/systemd/notify"):
    for send in (lambda: one.sendto(MARKER.encode(), address), lambda: one.sendmsg([b"x"], (), 0, address)):
        try:
            send()
        except OSError:
            continue
        print(MARKER)
one.close()
other.close()
