"""Hide a message in an attribute of a file, which neither its size nor its text shows.

Landlock has no right for attributes, so nothing but the filter and the names stands here.

Expected: error PermissionError
Stopped by: system call filter, namespaces, other user
Own: yes
"""

import os

os.setxattr("/srv/grader/notes.txt", "user.message", b"the answer is 42")
raise SystemExit("through: a message on somebody's file")
