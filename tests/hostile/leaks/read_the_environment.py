"""Look for secrets in the environment.

Expected: error PermissionError
Stopped by: clean start
"""

import os

if leaked := [name for name in os.environ if "SECRET" in name or "GRADER" in name]:
    raise SystemExit(f"through: {leaked}")
raise PermissionError("nothing of interest")
