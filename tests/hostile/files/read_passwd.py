"""Read a file of the system, which tells who has an account.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

raise SystemExit(f"through: {open('/etc/passwd').readline()!r}")
