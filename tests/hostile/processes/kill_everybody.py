"""Kill the zygote, the grader and all processes of this user.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os
import signal

for target in (os.getppid(), -1, 1):
    os.kill(target, signal.SIGKILL)
