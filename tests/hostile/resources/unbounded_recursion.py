"""Recurse in C until the stack ends.

Expected: crashed or timeout or memory or error RecursionError or error MemoryError
Stopped by: own fork, limits
"""

import sys

sys.setrecursionlimit(1 << 30)


def attend(q, k, v):
    return attend(q, k, v)
