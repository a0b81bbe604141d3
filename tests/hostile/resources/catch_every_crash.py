"""Catch the signal of a crash with a handler in Python, which returns to the faulting instruction again and again.

Expected: error PermissionError
Stopped by: system call filter, limits
Own: yes
"""

import ctypes
import signal

signal.signal(signal.SIGSEGV, lambda *_: None)
ctypes.string_at(0)
