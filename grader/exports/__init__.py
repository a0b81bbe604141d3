"""A class's gradebook and single attempts as the files that other programs take; values in, text out."""
