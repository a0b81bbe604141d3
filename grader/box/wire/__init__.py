"""All that crosses the wall: a job on its way in, an answer on its way out, and the child between the two."""
