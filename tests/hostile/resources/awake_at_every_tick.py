"""Be awake at the kernel's ticks and sleep in between: the limit by the tick is charged for time that was not used.

The kernel then kills what has used next to nothing. That must not look like a machine without memory: what was killed
for lack of memory is graded once more, with nothing beside it.

Expected: timeout
Stopped by: clock
Own: yes
"""

import time

COARSE = 6  # CLOCK_MONOTONIC_COARSE, which moves on with the ticks
TICK = time.clock_getres(COARSE)

seen = time.clock_gettime(COARSE)
while time.clock_gettime(COARSE) == seen:
    pass
tick = time.perf_counter()
while True:
    tick += TICK * (1 + (time.perf_counter() - tick) // TICK)
    time.sleep(max(0.0, tick - time.perf_counter() - 0.15 * TICK))
    seen = time.clock_gettime(COARSE)
    while time.clock_gettime(COARSE) == seen and time.perf_counter() < tick + 0.1 * TICK:
        pass
