"""Put the prints' descriptor in the place of the result's, so that the box talks to nobody.

Expected: error PermissionError
Stopped by: system call filter
Own: yes
"""

import os

os.dup2(1, 20)
raise SystemExit("through: descriptors can be put where one likes")
