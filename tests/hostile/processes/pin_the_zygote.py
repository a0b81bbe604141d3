"""Bind the zygote to one core. (It asks for those that it has.)

Expected: error PermissionError
Stopped by: system call filter, namespaces, other user
"""

import os

if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0))
raise SystemExit("through: its cores are ours to choose")
