"""Leave something in shared memory, where no disk would show it.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
"""

with open("/dev/shm/left-behind", "w") as file:
    file.write("answer")
raise SystemExit("through: the segment is written")
