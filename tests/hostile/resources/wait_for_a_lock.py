"""Wait for a lock that nobody will ever open.

Expected: timeout
Stopped by: clock
"""

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
