"""Have the interpreter write its own report of a crash into the result, past every function of the box.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import ctypes
import faulthandler

faulthandler.enable(file=4)
ctypes.string_at(0)
