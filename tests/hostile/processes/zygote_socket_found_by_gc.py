"""Find the control socket of the zygote among the objects that came with the fork, and order a run.

Expected: error PermissionError
Stopped by: clean start, system call filter
"""

import gc
import socket

gc.unfreeze()
for thing in gc.get_objects():
    if isinstance(thing, socket.socket):
        thing.send(b"{}")
raise OSError("no socket is left")
