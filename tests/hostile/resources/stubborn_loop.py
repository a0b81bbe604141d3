"""Compute for ever, ignoring every signal that can be ignored.

Expected: timeout
Stopped by: limits
"""

import contextlib
import signal

for number in range(1, 65):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
while True:
    pass
