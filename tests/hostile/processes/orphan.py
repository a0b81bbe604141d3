"""Make a process whose parent is gone: nobody here waits for it, and it keeps what was open.

Expected: error PermissionError
Stopped by: system call filter, limits
"""

import os

reading, writing = os.pipe()
child = os.fork()
if child == 0:
    if os.fork() == 0:
        os.write(writing, b"alive")
    os._exit(0)
os.waitpid(child, 0)
raise SystemExit(f"through: the orphan says {os.read(reading, 5)!r}")
