"""What a transform and a conversion both compute from an operation, so that they agree on it.

Tiles of accesses (`accesses`), scratch memory (`scratch`), shared memory of pipelines and tiles
(`allocations`), instructions of dots (`mma`), boxes and limits of TMA (`tensor_maps`). Nothing here
is written into the program; `plan-kernel` and `plan-splits` are passes (`transforms/nv_tileaa`).
"""
