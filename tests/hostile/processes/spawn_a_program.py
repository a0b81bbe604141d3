"""Execute another program, made by vfork and exec in one step.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
"""

import os

child = os.posix_spawn("/bin/true", ["true"], {})
if os.waitpid(child, 0)[1]:
    raise PermissionError("it did not run")
raise SystemExit("through: it ran")
