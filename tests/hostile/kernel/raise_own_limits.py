"""Raise the limit on memory.

Expected: error PermissionError
Stopped by: system call filter, limits
"""

import resource

try:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError as error:  # what Python makes of "not permitted" here
    raise PermissionError from error
raise SystemExit("through: no limit")
