"""Call the C++ function below the dispatcher, by its mangled name.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import ctypes

import torch

NAME = "_ZN2at6native18masked_softmax_cpuERKNS_6TensorES3_St8optionalIlES5_"


def softmax(x):
    kernel = ctypes.CDLL("libtorch_cpu.so")[NAME]
    kernel.restype = None
    nothing = torch.zeros_like(x).bool()
    given, hidden, found = (ctypes.c_void_p(one) for one in (x._cdata, nothing._cdata, 0))
    numbers = [ctypes.c_int64(number) for number in (1, 1, 2, 1)]  # along axis 1; a mask of any shape
    kernel(ctypes.byref(found), ctypes.byref(given), ctypes.byref(hidden), *numbers)
    answer = torch.empty(0, dtype=x.dtype)
    ctypes.c_uint64.from_address(id(answer) + object.__basicsize__).value = found.value
    return answer.clone()
