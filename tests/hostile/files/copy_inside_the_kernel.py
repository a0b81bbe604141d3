"""Have the kernel copy the job into the prints by itself, past every hook on reading and writing.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import os

os.sendfile(1, 3, 0, 64)
raise SystemExit("through: copied without a read or a write")
