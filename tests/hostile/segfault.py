"""Read address 0.

Expected: crashed
Stopped by: a process of its own
"""

import ctypes

ctypes.string_at(0)
