"""Have the compiler read a number with a hundred thousand signs.

Expected: error MemoryError or error RecursionError or error SyntaxError or crashed
Stopped by: limits, own fork
"""

attend = eval("-" * 100_000 + "1")
