"""The transform that cuts tiles into parts: it decides nothing.

`closure` finds all that is cut with an operation, by the ways that operations declare. `apply` is
the pass `tile`, which applies the splits that `plan-splits` wrote: `one_part` (the first part,
parts over CTAs), `region` and `loop` (a loop over parts, or more iterations over K).
`slice-tiles` uses `region`, too; `slice-dots` uses `unrolled`.
"""
