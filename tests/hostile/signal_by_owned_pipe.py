"""Have the kernel kill the zygote: own a pipe in its name, ask for SIGKILL on activity, fill the pipe.

Expected: error PermissionError
Stopped by: system call filter on the command of fcntl, process namespace, Landlock
"""

import fcntl
import os

F_SETOWN, F_SETSIG = 8, 10
fcntl.fcntl(1, F_SETOWN, os.getppid() or 1)
fcntl.fcntl(1, F_SETSIG, 9)
fcntl.fcntl(1, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
while True:
    os.write(1, b"x" * 4096)
