"""Where Python looks for modules: never in the current folder, nor in the folder of a script.

Python puts one of the two in front of its own library. A hand-in called `random.py` that lies there would be imported
in place of the library's module, and so be run outside of the sandbox, with the rights of whoever grades it.

Nothing may be imported here but what Python has loaded before it adds that folder, so not even `__future__`.
"""

import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
# The package by its own path: a folder on the search path would offer everything else that lies in it as well.
_ENTRY = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("grader", {file!r}, submodule_search_locations=[{folder!r}])
sys.modules["grader"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["grader"])
from {module} import {function}
{function}({arguments})
"""


def leave_out_the_current_folder() -> None:
    """Remove from the search path the current folder, the script's, and relative entries of PYTHONPATH.

    What is imported of `grader` already stays so: a package finds its own modules without the search path.
    """
    entries = ("", *os.environ.get("PYTHONPATH", "").split(os.pathsep))
    try:
        doubtful = {os.path.realpath(entry) for entry in entries if not os.path.isabs(entry)}
        doubtful.add(os.path.dirname(os.path.realpath(sys.argv[0])))
    except FileNotFoundError:  # the current folder is gone, and nothing can be found in it
        return
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) not in doubtful]


def isolated(module: str, function: str, arguments: str = "") -> list[str]:
    """Return the command that calls `function` of `module` in a new Python, whose search path is Python's own alone.

    The variables of the environment that begin with PYTHON have no effect there. `arguments` are written as in a call.
    """
    file = os.path.join(_PACKAGE, "__init__.py")
    names = {"module": module, "function": function, "arguments": arguments}
    return [sys.executable, "-I", "-c", _ENTRY.format(file=file, folder=_PACKAGE, **names)]
