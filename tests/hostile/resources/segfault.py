"""Read address 0.

Expected: crashed
Stopped by: own fork
"""

import ctypes

ctypes.string_at(0)
