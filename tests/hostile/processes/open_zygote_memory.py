"""Open the zygote's memory as a file.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

with open(f"/proc/{os.getppid()}/mem", "rb", buffering=0) as memory:
    memory.seek(id(os))
    raise SystemExit(f"through: {memory.read(16).hex()}")
