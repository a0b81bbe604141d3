"""Write until the disk is full. (This one stops after a mebibyte, which proves the point.)

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
"""

with open("/tmp/large", "wb") as file:
    file.write(bytes(1 << 20))
raise SystemExit("through: a mebibyte is gone")
