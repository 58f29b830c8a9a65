"""End the thread that sends output, for the cells to come.

layer: messages
plain: succeeds
session: own
timeout: 3
after: print("own words")
expect: own words
"""

get_ipython().kernel.iopub_thread.stop()
