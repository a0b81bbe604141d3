"""Raise a warning in a loop with a new text each time, which the interpreter writes by itself.

Expected: error MemoryError or memory or timeout
Stopped by: clock
Own: yes
"""

import warnings

number = 0
while True:
    warnings.warn(f"{number} " + "x" * 500)
    number += 1
