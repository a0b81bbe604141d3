"""Make one process, which could live on when the run is over.

Expected: error PermissionError
Stopped by: system call filter, limits
"""

import os

if os.fork() == 0:
    os._exit(0)
os.wait()
raise SystemExit("through: a process was made")
