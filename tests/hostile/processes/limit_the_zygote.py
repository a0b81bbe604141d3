"""Lower the zygote's limits, so that it can fork nobody any more. (It only reads them, which asks for the same right.)

Expected: error PermissionError
Stopped by: system call filter, namespaces, other user
Own: yes
"""

import os
import resource

if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
try:
    found = resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)
except ValueError as error:  # what Python may make of "not permitted" here
    raise PermissionError from error
raise SystemExit(f"through: {found}")
