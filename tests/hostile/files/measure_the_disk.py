"""Ask how full the disk is, twice: the difference is what others write.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Own: yes
"""

import os

raise SystemExit(f"through: {os.statvfs('/srv/grader').f_bfree} blocks are free")
