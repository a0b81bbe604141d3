"""Look for another run, or any process of this user, by trying numbers.

All children are the same nobody, so that another user is no wall between two of them.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces
"""

import os

met = ProcessLookupError("nobody else is here")
for number in range(2, 2000):
    if number == os.getpid():
        continue
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        continue
    except PermissionError as error:
        met = error
        continue
    raise SystemExit(f"through: process {number} would have had the signal")
raise met
