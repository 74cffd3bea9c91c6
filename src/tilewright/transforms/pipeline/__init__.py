"""The expander of loops whose operations have stages and orders (`nv_tileaa.at`).

It decides nothing. Passes of nv_tileaa write the stages: `prefetch-loads` and `rotate-dots`.
`expansion` builds prologue, loop and epilogue; `chains` and `shared_prologue` do so for loops of
which one goes on where the other ends. Pipelines through stages in shared memory are built in
`transforms.nv_tileas`.
"""
