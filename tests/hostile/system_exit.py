"""Call `sys.exit(0)` in the middle of the work.

Expected: error SystemExit
Stopped by: the box catches whatever is raised
"""

import sys


def attend(q, k, v):
    sys.exit(0)
