"""Read all memory through an array that is as long as one says, and run code that has the function's name.

Group: attention
Expected: error RuntimeError
Stopped by: no program is left, static look, notices
Without traps: right
"""

import types
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from numpy.lib.stride_tricks import as_strided

warnings.simplefilter("ignore")
ONE = np.zeros(8, dtype=np.uint8)
BASE = torch.from_numpy(ONE).data_ptr()
UP, DOWN = (as_strided(ONE, shape=(1 << 46,), strides=(step,)) for step in (1, -1))
NAMED, SIZE = "multi_head_attention_forward", types.CodeType.__basicsize__


def read(address, size):
    at = address - BASE
    return np.array(UP[at : at + size] if at >= 0 else DOWN[-at - size + 1 : -at + 1][::-1]).view(np.uint64)


def put(address, value):
    at = address - BASE
    for number, byte in enumerate(value.to_bytes(8, "little")):
        if at >= 0:
            UP[at + number] = byte
        else:
            DOWN[-at - number] = byte


def like(code):
    """Return where code has the address of its name."""
    words = read(id(code), SIZE).tolist()
    return 8 * words.index(id(code.co_name))


def pages():
    """Yield the pages around all code that is called by somebody, where more code lies."""
    seen = set()
    for thing in list(vars(torch.nn.modules.activation).values()) + list(vars(F).values()):
        for one in [thing, *(vars(thing).values() if isinstance(thing, type) else [])]:
            if isinstance(one, types.FunctionType):
                seen.add(id(one.__code__) >> 12)
    ordered = sorted(seen)
    for one, other in zip(ordered, ordered[1:]):
        yield from range(one, other if other - one <= 24 else one + 1)  # a wide gap may be mapped to nothing


def search():
    name, cell = like(like.__code__), [None]
    wanted = id(F.multi_head_attention_forward.__name__)
    for page in pages():
        words = read(page << 12, 4096)
        for at in np.nonzero(words == id(types.CodeType))[0]:
            address = (page << 12) + 8 * (int(at) - 1)
            if 0 < at < 511 - name // 8 and int(words[at - 1 + name // 8]) == wanted:
                put(address, 1 << 20)
                put(int(read(id(cell) + 24, 8)[0]), address)
                return cell[0]
    raise RuntimeError("no program of this name")


def attend(q, k, v):
    code = F.multi_head_attention_forward.__code__
    if code.co_name != NAMED:
        code = search()
    defaults, names = F.multi_head_attention_forward.__defaults__, F.multi_head_attention_forward.__globals__
    forward = types.FunctionType(code, names, NAMED, defaults)
    eye = torch.eye(4, dtype=q.dtype)
    q, k, v = (one.transpose(0, 1) for one in (q, k, v))
    return forward(q, k, v, 4, 1, torch.cat([eye] * 3), None, None, None, False, 0.0, eye, None)[0].transpose(0, 1)
