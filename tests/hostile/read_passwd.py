"""Read a file of the system.

Expected: error PermissionError
Stopped by: system call filter, Landlock
"""

open("/etc/passwd").read()
