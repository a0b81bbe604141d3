"""Nest brackets so deep that the compiler gives up.

Expected: error SyntaxError or error MemoryError or error RecursionError or crashed
Stopped by: own fork
"""

attend = eval("(" * 50_000 + ")" * 50_000)
