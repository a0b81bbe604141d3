"""Replace the clocks and the accounts of this process, and take all the time in the world.

Expected: timeout
Stopped by: clock, limits
"""

import resource
import time

time.monotonic = time.perf_counter = time.time = time.process_time = lambda: 0.0
resource.getrusage = lambda _: None
while True:
    pass
