"""Send text under the identities that a next request could have.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import threading
import time

base, _, number = parent["header"]["msg_id"].rpartition("_")


def speak():
    for step in range(20):
        for ahead in range(1, 30):
            guess = {"msg_id": f"{base}_{int(number) + ahead}", "session": parent["header"]["session"]}
            session.send(
                kernel.iopub_socket, "stream", {"name": "stdout", "text": "forged"}, {"header": guess}
            )
        time.sleep(0.05)


speak()
