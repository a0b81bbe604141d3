"""Compute between the kernel's ticks and sleep over each, since the limit of processor time is charged by the tick.

Expected: timeout
Stopped by: clock
Own: yes
"""

import time

COARSE = 6  # CLOCK_MONOTONIC_COARSE, which stands still between two ticks
TICK = time.clock_getres(COARSE)


def after_a_tick():
    seen = time.clock_gettime(COARSE)
    while time.clock_gettime(COARSE) == seen:
        pass
    return time.perf_counter()


tick = after_a_tick()
while True:
    while (time.perf_counter() - tick) % TICK < 0.8 * TICK:
        pass
    time.sleep(0.25 * TICK)
    tick += TICK * ((time.perf_counter() - tick) // TICK)
