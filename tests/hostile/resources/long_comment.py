"""Have the compiler read thirty million bytes that say nothing.

Expected: error Rejected
Stopped by: limits
"""

exec("#" * 30_000_000)
