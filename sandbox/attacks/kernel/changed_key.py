"""Change the key with which the kernel signs, so that nothing it says is believed.

layer: messages
plain: skipped, it spoils the kernel
session: own
proof: deadline
timeout: 1
"""

get_ipython().kernel.session.key = b"another key"
