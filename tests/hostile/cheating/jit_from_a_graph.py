"""Parse a graph of the interpreter's own language, and run it.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch

GRAPH = """
graph(%q : Tensor, %k : Tensor, %v : Tensor):
  %mask : NoneType = prim::Constant()
  %p : float = prim::Constant[value=0.]()
  %no : bool = prim::Constant[value=0]()
  %answer : Tensor = aten::scaled_dot_product_attention(%q, %k, %v, %mask, %p, %no, %mask, %no)
  return (%answer)
"""


def attend(q, k, v):
    return torch._C._create_function_from_graph("answer", torch._C.parse_ir(GRAPH))(q, k, v)
