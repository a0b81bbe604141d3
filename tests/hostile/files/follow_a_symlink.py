"""Make a link to the database in a place of one's own, and read through it.

A trusted program that follows such a link with more rights would be fooled too.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

os.symlink("/srv/grader/grades.sqlite", f"/tmp/link-{os.getpid()}")
raise SystemExit(f"through: {open(f'/tmp/link-{os.getpid()}', 'rb').read(16)!r}")
