"""Signal the process that everybody's runs come from. (Number 0, which only asks whether it could.)

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os

if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
os.kill(os.getppid(), 0)
raise SystemExit("through: it would have had the signal")
