// Debug information: two kernels of one file, a lexical block, an inlined call, a shared location.
#file = #cuda_tile.di_file<"a.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#first = #cuda_tile.di_subprogram<file = #file, line = 3, name = "first", linkageName = "first", compileUnit = #unit, scopeLine = 3>
#second = #cuda_tile.di_subprogram<file = #file, line = 9, name = "second kernel", linkageName = "second", compileUnit = #unit, scopeLine = 10>
#helper = #cuda_tile.di_subprogram<file = #file, line = 20, name = "helper", linkageName = "helper", compileUnit = #unit, scopeLine = 20>
#block = #cuda_tile.di_lexical_block<scope = #first, file = #file, line = 4, column = 2>
#here = #cuda_tile.di_loc<loc("a.py":5:8) in #block>
#call = #cuda_tile.di_loc<loc("a.py":11:4) in #second>
#inside = #cuda_tile.di_loc<loc("a.py":21:9) in #helper>
cuda_tile.module @kernels {
  entry @first(%n: tile<i32>) {
    %0 = constant <i32: 7> : tile<i32> loc(#here)
    %1 = addi %n, %0 : tile<i32> loc(#here)
    return loc(#cuda_tile.di_loc<loc("a.py":6:2) in #first>)
  } loc(#cuda_tile.di_loc<loc("a.py":3:1) in #first>)
  entry @second(%n: tile<i32>) {
    %0 = muli %n, %n : tile<i32> loc(callsite(#inside at #call))
    %1 = muli %0, %n : tile<i32>
    return loc(#call)
  } loc(#cuda_tile.di_loc<loc("a.py":9:1) in #second>)
}
