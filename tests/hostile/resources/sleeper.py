"""Sleep for ever, which uses no processor time at all.

Expected: timeout
Stopped by: clock
"""

import time

time.sleep(1e6)
