"""Stop this process, so that it is neither dead nor running.

Expected: error PermissionError
Stopped by: system call filter, namespaces, clock
"""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
