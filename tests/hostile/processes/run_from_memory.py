"""Put a program into memory and execute it from there, where no rule about files applies.

Expected: error PermissionError
Stopped by: system call filter, Landlock, namespaces, limits
"""

import os

descriptor = os.memfd_create("program")
os.write(descriptor, open("/bin/true", "rb").read())
os.set_inheritable(descriptor, True)
child = os.posix_spawn(f"/proc/self/fd/{descriptor}", ["true"], {})
if os.waitpid(child, 0)[1]:
    raise PermissionError("it did not run")
raise SystemExit("through: it ran")
