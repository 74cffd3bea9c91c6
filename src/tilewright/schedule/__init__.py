"""The resource model and the cost model: answers to passes, which write the decisions.

- Warps of a block, and blocks on an SM, for `plan-kernel`: `launch_shape`, with `dot_warps`
  (kernels with dots), `row_kernels` (a block that reduces a row) and `warp_counts` (what is asked
  for).
- What fits: `registers` and `shared_memory` have the rules, `resources` applies them to a kernel.
- Pipelining, for `schedule-loops`: `candidates` orders what the pass offers, `choose` takes one by
  the clocks that `cost` predicts of the inputs `cost_inputs` and `work`.
"""
