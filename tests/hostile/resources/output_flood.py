"""Print without end, to fill the memory of whoever collects it.

Expected: output
Stopped by: clock
"""

while True:
    print("x" * 1000)
