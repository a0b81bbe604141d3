"""Compute for ever in C, where no Python signal handler runs.

Expected: timeout
Stopped by: limits
"""

attempt = 7 ** (10**9)
