"""Go back in the result, to write over what the box has said.

Expected: error PermissionError
Stopped by: system call filter, the kernel
Without walls: refused
Own: yes
"""

import os

os.lseek(4, 0, os.SEEK_SET)
raise SystemExit("through: the answer can be unsaid")
