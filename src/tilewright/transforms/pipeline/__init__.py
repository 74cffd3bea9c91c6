"""The expander of loops whose operations have stages and orders (`nv_tileaa.at`).

It decides nothing. Passes write the stages: `prefetch-loads` and `rotate-dots` those of operations
of nv_tileaa, `materialize-schedule` those of copies to stages in shared memory. `expansion` builds
prologue, loop and epilogue; `pipeline_loops` does so for two loops of which one goes on where the
other ends; `iterations` asks which iterations exist.
"""
