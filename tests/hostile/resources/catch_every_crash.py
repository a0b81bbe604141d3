"""Catch the signal of a crash with a handler in Python, which returns to the faulting instruction again and again.

Expected: timeout
Stopped by: limits
Own: yes
"""

import ctypes
import signal

signal.signal(signal.SIGSEGV, lambda *_: None)
ctypes.string_at(0)
