"""Overflow the stack with a handler for it on a stack of its own, so that the process survives its death.

Expected: error PermissionError
Stopped by: system call filter, own fork
Own: yes
"""

import ctypes
import faulthandler

faulthandler.enable(file=1)
libc = ctypes.CDLL(None)
stack = ctypes.create_string_buffer(1 << 16)
libc.sigaltstack((ctypes.c_size_t * 3)(ctypes.addressof(stack), 0, 1 << 16), None)
libc.qsort(stack, 2, 1, ctypes.CFUNCTYPE(ctypes.c_int)(0xDEAD))
