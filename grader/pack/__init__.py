"""A student's pack: an exercise that checks itself with pytest, on a machine that has no reference."""
