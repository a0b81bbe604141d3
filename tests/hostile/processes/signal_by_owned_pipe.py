"""Have the kernel kill the zygote: own a pipe in its name, ask for SIGKILL on activity, fill the pipe.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import fcntl
import os
import time

F_SETOWN, F_SETSIG = 8, 10
zygote = os.getppid()
fcntl.fcntl(1, F_SETOWN, zygote or 1)
fcntl.fcntl(1, F_SETSIG, 9)
fcntl.fcntl(1, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
for _ in range(10):
    os.write(1, b"x" * 2048)  # whoever reads it makes room, which is the activity
    time.sleep(0.02)
if os.getppid() != zygote:
    raise SystemExit("through: the zygote is dead")
raise PermissionError("the signal did not arrive")
