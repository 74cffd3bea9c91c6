"""Passes on tiles with layouts; `PASSES` of `driver/pipelines.py` names the module of each.

- `schedule_loops` chooses stages, copy engines, a producer, dots in flight over iterations, and
  whether two blocks share an SM, with `pipelined_loads` (engine of a load), `fitting_pipelines`
  (the most stages of a loop), `dots_in_flight`, `warp_specialization` (what a producer can copy),
  `choose_pipelining` (the choice among candidates) and `coresident_blocks`. `specialize_warps` and
  `materialize_schedule` build what it wrote, with the waits for stages and dots. `keep_tiles` has
  stages of its own.
- `overlap_dots` lets dots run beside other operations of their iteration, and inserts their waits.
- `move_conversions` changes layouts that the conversion assigned.
- `allocate` assigns shared memory. `synchronize` inserts barriers, proxy fences, and waits for
  stores by TMA; `order_warpgroups` lets warpgroups wait for each other at named barriers.
  `materialize_async` assigns mbarriers to the pipelines of agents and to tokens of async copies,
  and inserts the waits for these tokens.
"""
