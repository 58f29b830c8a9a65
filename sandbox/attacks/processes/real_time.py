"""Run in real time, before everything else on the machine.

layer: users
plain: depends, on the rights of the user and the control groups of the machine
"""

import os

child = os.fork()
if child == 0:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os._exit(7)
    finally:
        os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
