"""Leave something behind for the next submission.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
"""

with open("/tmp/left-behind", "w") as file:
    file.write("answer")
raise SystemExit("through: the file is written")
