"""What an exercise is: its specification, its reference, its known mistakes, and the tensors of its cases."""
