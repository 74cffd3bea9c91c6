"""The resource model and the cost model: answers to passes, which write the decisions.

- Warps of a block, and blocks on an SM, for `plan-kernel`: `launch_shape`, with `row_kernels`
  (a block that reduces a row). `warp_counts` has the number that is asked for or chosen, for all
  later passes.
- What fits: `registers` and `shared_memory` have the rules, `resources` applies them to a kernel.
  `tile_words`, `liveness_before_layouts`, `liveness_with_layouts` and `shared_lifetimes` count what
  a kernel takes. `limits` has how much a pass may take, and how much faster a choice has to be.
- Pipelining, for `schedule-loops`: `candidates` has the order of what the pass offers, and takes
  the first, or a later one that is clearly faster by the clocks that `cost` predicts. Its inputs
  are a plan (`cost_inputs`) and the work of the kernel (`work`, which `work_tree` counts);
  `constants` has what no GPU lists as a rate.
- The time of a whole launch, for `tilewright tune`: `launch_cost`.

Nothing here changes a program. How stages, copies and barriers are built is in `transforms`.
"""
