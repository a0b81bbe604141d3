"""Read how the other processes were started; secrets are passed as arguments more often than one would think.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

with open("/proc/1/cmdline", "rb") as file:
    raise SystemExit(f"through: {file.read(40)!r}")
