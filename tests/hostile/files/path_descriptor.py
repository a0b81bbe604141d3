"""Open a folder as a mere path, which is no access yet, and climb from there by relative names.

Landlock checks files that are opened; a descriptor of a path is none, and still tells what exists.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Own: yes
"""

import os

folder = os.open("/srv/grader", os.O_PATH)
raise SystemExit(f"through: {os.stat('../grader/grades.sqlite', dir_fd=folder).st_size} bytes")
