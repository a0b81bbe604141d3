"""Find out which processes there are by asking for each number on which cores it may run.

Anybody may ask that of anybody; neither a user nor Landlock stands in between.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Own: yes
"""

import os

found, met = [], ProcessLookupError("nobody else is here")
for number in range(1, 3000):
    if number == os.getpid():
        continue
    try:
        os.sched_getaffinity(number)
    except ProcessLookupError:
        continue
    except PermissionError as error:
        met = error
        continue
    found.append(number)
if found:
    raise SystemExit(f"through: there are {len(found)} others")
raise met
