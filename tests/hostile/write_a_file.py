"""Leave something behind for the next submission.

Expected: error PermissionError
Stopped by: system call filter, Landlock, file size limit
"""

open("/tmp/left-behind", "w").write("answer")
