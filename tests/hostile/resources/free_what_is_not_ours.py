"""Free an object of the interpreter, and let the next allocation write over it.

Expected: crashed
Stopped by: own fork
Own: yes
"""

import ctypes

ctypes.memset(id(int), 0x41, 200)
int("4711")
