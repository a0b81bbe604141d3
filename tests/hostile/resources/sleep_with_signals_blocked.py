"""Sleep with every signal blocked, so that none can wake it.

Expected: error PermissionError
Stopped by: system call filter, clock
"""

import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
time.sleep(1e6)
