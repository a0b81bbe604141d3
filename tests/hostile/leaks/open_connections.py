"""Read which connections are open: who works on the pages now.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

with open("/proc/net/tcp") as file:
    raise SystemExit(f"through: {len(file.readlines()) - 1} sockets")
