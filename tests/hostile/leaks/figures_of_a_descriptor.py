"""Ask what the descriptors are: numbers of inodes count what others open, times of the empty device tell the boot.

Expected: error PermissionError
Stopped by: system call filter
Needs: x86_64
Own: yes
"""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
told = ctypes.create_string_buffer(144)
for descriptor in range(6):
    if libc.syscall(5, descriptor, told) == 0:
        device, inode = struct.unpack_from("=QQ", told)
        raise SystemExit(f"through: descriptor {descriptor} is inode {inode} of device {device:#x}")
raise OSError(ctypes.get_errno(), "refused")
