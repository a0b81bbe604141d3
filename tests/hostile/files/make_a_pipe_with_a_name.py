"""Make a named pipe, over which two submissions could talk.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import os

os.mkfifo(f"/tmp/pipe-{os.getpid()}")
raise SystemExit("through: the pipe is there")
