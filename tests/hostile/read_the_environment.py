"""Look for secrets in the environment.

Expected: error PermissionError
Stopped by: a clean environment, system call filter, Landlock
"""

import os

if leaked := [name for name in os.environ if "SECRET" in name or "GRADER" in name]:
    raise SystemExit(f"found {leaked}")
open("/proc/self/environ").read()
