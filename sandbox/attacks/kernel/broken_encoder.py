"""Break the encoder with which the kernel makes its messages.

layer: deadline
plain: skipped, it spoils the kernel
session: own
proof: deadline
timeout: 1
"""

import json


def refuse(*arguments, **options):
    raise ValueError("no")


json.dumps = refuse
get_ipython().kernel.session.pack = refuse
