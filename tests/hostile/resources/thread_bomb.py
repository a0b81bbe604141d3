"""Start threads without end.

Expected: error RuntimeError
Stopped by: system call filter, limits
"""

import threading

while True:
    threading.Thread(target=print).start()
