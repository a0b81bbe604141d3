"""Unmap all memory, the box's own code with it.

Expected: crashed
Stopped by: own fork
Own: yes
"""

import ctypes

ctypes.CDLL(None).munmap(ctypes.c_void_p(1 << 16), ctypes.c_size_t((1 << 47) - (1 << 17)))
