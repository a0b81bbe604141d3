"""Plant a file in site-packages that every later Python executes at its start.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, other user
Without walls: refused
"""

import sys

place = next(place for place in sys.path if place.endswith("site-packages"))
with open(f"{place}/zz_planted.pth", "w") as file:
    file.write("import this")
raise SystemExit("through: planted")
