setlocal commentstring=//\ %s
setlocal iskeyword+=.,$
setlocal shiftwidth=2 expandtab
