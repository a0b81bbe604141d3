"""Watch the folder of submissions: who hands in when, and whether there is a next one to race with.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Own: yes
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
watcher = libc.inotify_init1(os.O_NONBLOCK)
if watcher < 0 or libc.inotify_add_watch(watcher, b"/srv/grader/submissions", 0xFFF) < 0:
    raise OSError(ctypes.get_errno(), "refused")
raise SystemExit("through: every submission is seen to come")
