"""The rules of a class: what a hand-in costs, which attempt counts, and what each person has, from stored events alone.

Nothing here reads a clock, a database or a float. A class is a `Book` of values; `compute` gives each member's line.
Nothing is spent and nothing is decremented: the late days that are left, the attempts that are used and the points are
derived anew each time, so any change is previewed by computing the book with it and without it.

Points are `Fraction`s and are rounded only where a rule says so, half up, to hundredths. Instants are whole
milliseconds of UTC; due times are minutes on the wall of a class's zone.
"""
