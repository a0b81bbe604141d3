"""Set the clock back, before the deadline.

Expected: error PermissionError
Stopped by: system call filter, other user
Without walls: refused
"""

import time

time.clock_settime(time.CLOCK_REALTIME, 0)
raise SystemExit("through: it is 1970")
