"""`attention-gym`, or `python -m grader`: the command line.

Nothing is imported above `run` that Python would have to look for: the search path holds the current folder until then.
"""

import os
import sys

from grader import search_path


def run() -> None:
    """Run the command of this process's arguments, and end with its exit code."""
    search_path.leave_out_the_current_folder()
    import atexit  # here and below: after the line above
    from contextlib import suppress

    from grader import stopping

    stopping.stop_at_once()
    if grading := sys.argv[1:2] == ["grade"]:
        # Before the command line: what it starts warms up while that is imported.
        from grader.sandbox import choice

        choice.begin()
    from grader.cli.main import main

    if not grading:  # all the others may have something to put in order; this one imports torch up to its end
        stopping.stop_as_usual()
    code = main()
    # As mypy does: taking torch apart, object by object, would take half a second.
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # none where it was closed before the start
        with suppress(BrokenPipeError):  # nobody reads any more
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
