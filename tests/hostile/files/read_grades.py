"""Read the grade database by its path: everybody's marks are in it.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

found = open("/srv/grader/grades.sqlite", "rb").read(16)
raise SystemExit(f"through: {found!r}")
