"""Have a thread, and a task of the loop, write into the output of the next cell.

layer: messages
plain: depends, on the version of ipykernel
session: own
after: import asyncio; await asyncio.sleep(0.8); print("own words")
expect: own words
"""

import asyncio
import threading
import time


async def speak():
    await asyncio.sleep(0.4)
    print("task of the first cell")


def speak_too():
    time.sleep(0.3)
    print("thread of the first cell")


task = asyncio.get_event_loop().create_task(speak())
threading.Thread(target=speak_too).start()
