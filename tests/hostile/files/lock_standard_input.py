"""Lock the empty device that every child has as its input: locks on a shared file carry messages, without opening it.

Expected: error PermissionError
Stopped by: system call filter
"""

import fcntl

fcntl.flock(0, fcntl.LOCK_SH | fcntl.LOCK_NB)
raise SystemExit("through: a lock that others can see")
