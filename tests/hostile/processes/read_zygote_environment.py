"""Read the environment that the zygote was started with.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

with open(f"/proc/{os.getppid()}/environ", "rb") as file:
    raise SystemExit(f"through: {file.read(40)!r}")
