"""Ask what is mounted where, which tells containers, volumes and their owners.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

with open("/proc/self/mounts") as file:
    raise SystemExit(f"through: {file.readline()!r}")
