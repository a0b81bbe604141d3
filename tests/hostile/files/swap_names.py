"""Put the reference under another name, so that the grader finds what it should not.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Own: yes
"""

import os

os.rename("/srv/grader/reference/attention.py", "/srv/grader/reference/other.py")
raise SystemExit("through: renamed")
