"""Write into memory that is shared with other sessions rather than copied, and find it there later.

layer: room
plain: fails
session: own
sessions: 2
"""

mark = MARKER[::-1].encode()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "r+b", buffering=0) as memory:
    for line in maps:
        start, _, end = line.split()[0].partition("-")
        if " rw-s" not in line or "aio" in line:
            continue
        memory.seek(int(start, 16))
        if mark in memory.read(int(end, 16) - int(start, 16)):
            print(MARKER)
        memory.seek(int(end, 16) - len(mark))
        memory.write(mark)
