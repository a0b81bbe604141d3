"""Set a flag on the standard input, which is one open file for all children of the zygote: a bit to talk with.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import fcntl
import os

fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK)
raise SystemExit("through: every other run sees the flag")
