"""Open 5,000 comms, each a message to the host.

layer: output
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

from comm import create_comm

for number in range(5_000):
    create_comm(target_name="x", data={"text": "x" * 1000})
