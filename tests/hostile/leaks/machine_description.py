"""Read what machine this is.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

with open("/proc/cpuinfo") as file:
    raise SystemExit(f"through: {file.readline()!r}")
