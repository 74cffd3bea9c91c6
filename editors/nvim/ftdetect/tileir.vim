autocmd BufRead,BufNewFile *.mlir,*.tileir setfiletype tileir
