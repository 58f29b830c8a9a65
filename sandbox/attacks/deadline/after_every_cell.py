"""Loop in what the kernel calls after every cell.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""


def again():
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


get_ipython().events.register("post_execute", again)
