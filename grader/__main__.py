"""`python -m grader`: the command line."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

from grader.cli.main import main

if __name__ == "__main__":
    code = main()
    # As mypy does: taking torch apart, object by object, would take half a second.
    atexit._run_exitfuncs()
    with suppress(BrokenPipeError):  # nobody reads any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
