"""Read the processor time of every other process, to the nanosecond, by the number of its clock.

How long the grader computes on which case is in it, and what other students' code does.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Own: yes
"""

import os
import time

found, met = [], ProcessLookupError("nobody else is here")
for number in range(1, 3000):
    if number == os.getpid():
        continue
    try:
        found.append(time.clock_gettime((~number << 3) | 2))
    except PermissionError as error:
        met = error
    except OSError:
        continue
if found:
    raise SystemExit(f"through: {len(found)} clocks, the largest at {max(found):.9f} s")
raise met
