"""Start one thread: it would share the limits, and go on while the answer is read.

Expected: error RuntimeError
Stopped by: system call filter, limits
"""

import threading

worker = threading.Thread(target=int)
worker.start()
worker.join()
raise SystemExit("through: a thread ran")
