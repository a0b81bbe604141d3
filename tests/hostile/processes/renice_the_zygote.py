"""Make the zygote run last, so that everybody else waits. (It asks for the same rank that it has.)

Expected: error PermissionError
Stopped by: system call filter, namespaces, other user
"""

import os

if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
os.setpriority(os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getppid()))
raise SystemExit("through: its rank is ours to set")
