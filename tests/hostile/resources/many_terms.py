"""Have the compiler read a sum of three million terms.

Expected: error MemoryError or error RecursionError
Stopped by: limits, own fork
"""

attend = eval("1" + "+1" * 3_000_000)
