"""Random programs of Tile IR whose results are well defined: one for each seed.

`program.generate` makes one, `python -m tilewright.testing.generate --seed N` prints it.
"""
