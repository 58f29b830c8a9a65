"""End the thread that takes interrupts in, and loop.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

kernel = get_ipython().kernel
kernel.interrupt_request = lambda *arguments: None
kernel.control_thread.stop()
while True:
    pass
