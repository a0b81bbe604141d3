"""Make a file without a name; a watch over names would miss it.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
Own: yes
"""

import os

descriptor = os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(descriptor, b"room for anything")
raise SystemExit("through: a file that nobody can name")
