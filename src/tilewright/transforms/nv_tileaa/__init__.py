"""Passes on tiles without layouts; `PASSES` of `driver/pipelines.py` names the module of each.

- `plan_kernel` asks `schedule.launch_shape` for warps of a block and blocks on an SM.
- `plan_splits` writes splits by the rules of `dot_parts` and `cluster_choice`; `transforms.tile`
  applies them. `slice_tiles` chooses and cuts.
- `prefetch_loads` and `rotate_dots` (`rotation`) write stages of operations, which
  `transforms.pipeline` expands. `rotate_dots` and `version_single_trip` may also choose blocks.
- `order_blocks` chooses the order of the grid, `swap_dot_operands` the operands of dots.
"""
