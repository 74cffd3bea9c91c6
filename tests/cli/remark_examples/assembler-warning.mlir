// OPTIONS: --emit cubin
// Inline PTX, of which ptxas does not know a pragma; its warnings have no location.
// REMARK-ANYWHERE assembler-warning: Pragma 'unknown' unsupported
module {
  llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    llvm.inline_asm has_side_effects ".pragma \22unknown\22;", "" : () -> ()
    llvm.return
  }
}
