"""Set a timer whose signal interrupts the box between two calls, and run one's own handler there.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import signal

signal.signal(signal.SIGALRM, lambda *_: None)
try:
    signal.setitimer(signal.ITIMER_REAL, 60)
except OSError as error:
    raise PermissionError(*error.args) from error
raise SystemExit("through: it will ring")
