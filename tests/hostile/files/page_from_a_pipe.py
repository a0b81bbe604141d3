"""Move pages between pipes without copying them: the calls behind several kernel bugs that overwrote read-only files.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
piece = Piece(b"a page of ours", 14)
if libc.syscall(278, 1, ctypes.byref(piece), 1, 0) > 0:
    raise SystemExit("through: a page was lent to a pipe")
raise OSError(ctypes.get_errno(), "refused")
