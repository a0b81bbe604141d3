"""Allocate small Python objects until nothing is left.

Expected: error MemoryError or memory or timeout
Stopped by: limits
"""

kept = [()]
while True:
    kept.append((kept[-1], "x" * 400, len(kept)))
