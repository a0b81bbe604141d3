"""Leave the session, so that whoever ends it forgets this process.

Expected: error PermissionError
Stopped by: system call filter
"""

import os

os.setsid()
raise SystemExit("through: a session of one's own")
