"""Call what is allowed with arguments that nobody would use: the kernel must answer, and nothing else may happen.

A bug in one of these calls would be the way out that no filter closes; this is no proof, and finds what is easy.

Expected: right
Stopped by: the kernel
Needs: x86_64
Own: yes
"""

import ctypes

import torch

libc = ctypes.CDLL(None, use_errno=True)
WORDS = (0, 1, -1, 4095, 1 << 31, 1 << 47, (1 << 63) - 1, -(1 << 63))
CALLS = (0, 1, 5, 7, 8, 14, 19, 20, 25, 28, 32, 98, 204, 228, 229, 309, 318)  # none that ends, waits or unmaps
for number in CALLS:
    for first in (-1, 1 << 20, 99):
        for word in WORDS:
            arguments = [ctypes.c_long(value) for value in (first, word, word, 0, 0, 0)]
            if number == 7:
                arguments[1:3] = [ctypes.c_long(word & 0xFFFFFFFF | 1 << 16), ctypes.c_long(0)]
            libc.syscall(number, *arguments)


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
