"""Find out which processes there are by claiming that they hold a lock of ours: the kernel looks the owner up.

A lock with priority inheritance is a word in one's own memory that holds the owner's number.

Expected: error PermissionError
Stopped by: system call filter, namespaces
Needs: x86_64
Own: yes
"""

import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
nobody, found, told = 0, 0, errno.ESRCH
for number in range(1, 3000):
    word = ctypes.c_uint32(number)
    if number == os.getpid() or libc.syscall(202, ctypes.byref(word), 8 | 128, 0, None, None, 0) == 0:
        continue
    told = ctypes.get_errno()
    nobody += told == errno.ESRCH
    found += told != errno.ESRCH
if found and nobody:
    raise SystemExit(f"through: there are {found} others")
raise OSError(told, "every number gets the same answer")
