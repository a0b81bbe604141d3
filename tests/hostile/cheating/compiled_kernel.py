"""Lower the graph of a softmax to the kernels of the tensor-expression compiler.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch

GRAPH = """
graph(%x : Double(3, 5, strides=[5, 1], requires_grad=0, device=cpu)):
  %axis : int = prim::Constant[value=-1]()
  %nothing : NoneType = prim::Constant()
  %y : Double(3, 5, strides=[5, 1], requires_grad=0, device=cpu) = aten::softmax(%x, %axis, %nothing)
  return (%y)
"""


def softmax(x):
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    kernel = torch._C._te.TensorExprKernel(torch._C.parse_ir(GRAPH))
    return kernel.run((x,))
