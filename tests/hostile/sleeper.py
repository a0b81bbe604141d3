"""Sleep for ever, which uses no processor time at all.

Expected: timeout
Stopped by: the runner's wall clock
"""

import time

time.sleep(1e6)
