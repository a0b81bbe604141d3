"""Read where everything lies in memory; all children of one zygote have the same addresses.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

with open("/proc/self/maps") as file:
    raise SystemExit(f"through: {file.readline()!r}")
