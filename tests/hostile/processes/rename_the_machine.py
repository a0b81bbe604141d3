"""Give the machine another name.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
"""

import socket

socket.sethostname("mine")
raise SystemExit("through: renamed")
