"""Call the C++ function below the dispatcher by the `ctypes` that NumPy has imported.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import numpy as np
import torch

foreign = np._core._internal.ctypes
NAME = "_ZN2at6native18masked_softmax_cpuERKNS_6TensorES3_St8optionalIlES5_"


def softmax(x):
    kernel = foreign.CDLL("libtorch_cpu.so")[NAME]
    kernel.restype = None
    nothing = torch.zeros_like(x).bool()
    given, hidden, found = (foreign.c_void_p(one) for one in (x._cdata, nothing._cdata, 0))
    numbers = [foreign.c_int64(number) for number in (1, 1, 2, 1)]  # along axis 1; a mask of any shape
    kernel(foreign.byref(found), foreign.byref(given), foreign.byref(hidden), *numbers)
    answer = torch.empty(0, dtype=x.dtype)
    foreign.c_uint64.from_address(id(answer) + object.__basicsize__).value = found.value
    return answer.clone()
