"""Print without end, to fill the memory of whoever collects it.

Expected: timeout
Stopped by: clock
"""

while True:
    print("x" * 1000)
