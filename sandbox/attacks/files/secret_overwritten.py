"""Change a file of the host.

layer: mounts
plain: succeeds
proof: host
"""

with open(TARGET["secret_file"], "r+") as file:
    file.write("changed")
