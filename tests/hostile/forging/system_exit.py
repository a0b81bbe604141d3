"""Call `sys.exit(0)` in the middle of the work.

Expected: error SystemExit
Stopped by: catch-all
"""

import sys


def attend(q, k, v):
    sys.exit(0)
