"""Compute for ever.

Expected: timeout
Stopped by: limits
"""

while True:
    pass
