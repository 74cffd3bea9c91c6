"""Passes on tiles with layouts; `PASSES` of `driver/pipelines.py` names the module of each.

- `schedule_loops` chooses stages, copy engines, a producer, and whether two blocks share an SM,
  with `pipelined_loads` (engine of a load), `fitting_pipelines` (the most stages of a loop),
  `warp_specialization` (what a producer can copy), `choose_pipelining` (the choice among
  candidates) and `coresident_blocks`. `specialize_warps` and `materialize_schedule` build what it
  wrote. `keep_tiles` has stages of its own.
- `hoist_conversions` and `localize_stores` change layouts that the conversion assigned.
- `allocate` assigns shared memory, `synchronize` inserts barriers, waits and proxy fences;
  `materialize_async` makes mbarriers, `order_warpgroups` named barriers.
"""
