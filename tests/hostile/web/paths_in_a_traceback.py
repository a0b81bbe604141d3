"""Learn where and what the server is from the traceback of one's own code.

Expected: lines of the submission only
Stopped by: tracebacks are cut to the student's own frames, and folders of the server are taken out of what is printed
"""

import sys
import traceback
from pathlib import Path

SOURCE = """
def deep(n):
    if n == 0:
        import torch
        return torch.ones(2, 3) @ torch.ones(2, 3)
    return deep(n - 1)

def softmax(*args, **kwargs):
    return deep(3)
"""
OTHERS = ["def softmax(x):\n    raise KeyError(__file__, __name__)", "import sys\nraise ValueError(sys.path, sys.argv, sys.executable)",
          "def softmax(x, dim=-1):\n    raise KeyboardInterrupt", "import sys\nprint(sys.path, sys.argv, sys.orig_argv, sys.prefix)",
          "import warnings\n\ndef softmax(x, dim=-1):\n    warnings.warn('here', stacklevel=3)\n    return x",
          "import traceback\n\ndef softmax(x, dim=-1):\n    traceback.print_stack()\n    return x",
          "class softmax:\n    pass", "x = (", "raise SystemExit(open('/etc/passwd').read())"]  # fmt: skip

PRINTED = {"sys", "warnings", "traceback", "KeyboardInterrupt"}  # these show lines of the server, without their places


def control(world):
    try:
        raise ValueError
    except ValueError:
        assert __file__ in traceback.format_exc()


def attack(world):
    for source in (SOURCE, *OTHERS):
        id = world.graded(world.eve, source)
        answer = world.follow(world.client(world.eve), id)
        assert answer.parts
        for place in ("site-packages", "root:", sys.prefix, sys.base_prefix, str(Path(traceback.__file__).parent)):
            assert place not in answer.text, place
        if not PRINTED.intersection(source.split()):
            world.harmless(answer)
