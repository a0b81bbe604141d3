"""Start threads without end.

Expected: error RuntimeError
Stopped by: system call filter, process limit
"""

import threading

while True:
    threading.Thread(target=print).start()
