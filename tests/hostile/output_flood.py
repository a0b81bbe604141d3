"""Print without end, to fill the memory of whoever collects it.

Expected: output
Stopped by: the runner counts and kills
"""

while True:
    print("x" * 1000)
