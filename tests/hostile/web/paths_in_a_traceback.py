"""Learn where and what the server is from the traceback of one's own code.

Expected: lines of the submission only
Stopped by: tracebacks are cut to the student's own frames
"""

import traceback

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
          "class softmax:\n    pass", "x = (", "raise SystemExit(open('/etc/passwd').read())"]  # fmt: skip


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
        assert "site-packages" not in answer.text.replace("sys.path", "") or "sys.path" in source
        if "sys" not in source:
            world.harmless(answer)
        assert "root:" not in answer.text
