"""Signal the zygote through a descriptor of its process, past a rule about `kill`.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
"""

import os
import signal

if os.getppid() == 0:
    raise ProcessLookupError("the parent is in another world")
signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0)
raise SystemExit("through: it would have had the signal")
