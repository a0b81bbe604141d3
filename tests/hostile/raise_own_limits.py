"""Raise the limits, or become dumpable, again.

Expected: error PermissionError
Stopped by: system call filter on arguments, hard limits
"""

import ctypes
import resource

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(4, 1, 0, 0, 0) == 0:
    raise SystemExit("dumpable again")
try:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError as error:  # what Python makes of "not permitted" here
    raise PermissionError from error
