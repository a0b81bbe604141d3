"""Run before everything else on the machine.

Expected: error PermissionError
Stopped by: system call filter, limits, other user
Without walls: refused
"""

import os

os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
raise SystemExit("through: nobody else runs now")
