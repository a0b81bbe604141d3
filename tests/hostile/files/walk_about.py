"""Change the working folder and ask for its name, which Landlock does not forbid.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Own: yes
"""

import os

os.chdir("/srv/grader/submissions")
raise SystemExit(f"through: standing in {os.getcwd()}")
