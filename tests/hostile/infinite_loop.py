"""Compute for ever.

Expected: timeout
Stopped by: processor time limit
"""

while True:
    pass
