"""Find the first environment at the top of the stack, where no file and no call is needed to read it.

Expected: error PermissionError
Stopped by: clean start
Own: yes
"""

import ctypes

place = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
lines, number = [], 0
while place[number] is not None:
    lines.append(place[number])
    number += 1
if leaked := [line for line in lines if b"SECRET" in line or b"GRADER" in line]:
    raise SystemExit(f"through: {leaked}")
raise PermissionError("nothing of interest")
