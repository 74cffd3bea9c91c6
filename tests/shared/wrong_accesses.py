"""Programs whose accesses of memory break a rule of the verifier."""

from __future__ import annotations

from wrong_programs import GV, PADDED, PV, TILE, TV, Case

MEMORY = {
    "one token": Case(
        "%u = join_tokens %t : token",
        "'cuda_tile.join_tokens' op expected two or more tokens, got 1",
    ),
    "load releases": Case(
        "%r, %u = load_ptr_tko release device %ps : tile<16xptr<f32>> -> tile<16xf32>, token",
        "'cuda_tile.load_ptr_tko' op expected a memory ordering out of weak, relaxed, acquire, "
        "got release",
    ),
    "weak load with a scope": Case(
        "%r, %u = load_ptr_tko weak sys %ps : tile<16xptr<f32>> -> tile<16xf32>, token",
        "'cuda_tile.load_ptr_tko' op expected no memory scope, since the ordering is weak, got sys",
    ),
    "relaxed load without scope": Case(
        "%r, %u = load_ptr_tko relaxed %ps : tile<16xptr<f32>> -> tile<16xf32>, token",
        "'cuda_tile.load_ptr_tko' op expected a memory scope, since the ordering is relaxed",
    ),
    "load of another element": Case(
        "%r, %u = load_ptr_tko weak %ps : tile<16xptr<f32>> -> tile<16xi32>, token",
        "'cuda_tile.load_ptr_tko' op expected a result of 'f32' as the pointers have, got 'i32'",
    ),
    "load of another shape": Case(
        "%r, %u = load_ptr_tko weak %ps : tile<16xptr<f32>> -> tile<8xf32>, token",
        "'cuda_tile.load_ptr_tko' op expected source and mask and padding and result to have the "
        "same shape, got 16 and 8",
    ),
    "load mask of another shape": Case(
        "%r, %u = load_ptr_tko weak %ps, %c : tile<16xptr<f32>>, tile<i1> -> tile<16xf32>, token",
        "'cuda_tile.load_ptr_tko' op expected source and mask and padding and result to have the "
        "same shape, got 16 and scalar and 16",
    ),
    "padding of another type": Case(
        "%r, %u = load_ptr_tko weak %ps, %m, %i : tile<16xptr<f32>>, tile<16xi1>, tile<16xi32> "
        "-> tile<16xf32>, token",
        f"'cuda_tile.load_ptr_tko' op expected padding of type '{TILE}<16xf32>', "
        f"got '{TILE}<16xi32>'",
    ),
    "store acquires": Case(
        "%u = store_ptr_tko acquire device %ps, %f : tile<16xptr<f32>>, tile<16xf32> -> token",
        "'cuda_tile.store_ptr_tko' op expected a memory ordering out of weak, relaxed, release, "
        "got acquire",
    ),
    "release store without scope": Case(
        "%u = store_ptr_tko release %ps, %f : tile<16xptr<f32>>, tile<16xf32> -> token",
        "'cuda_tile.store_ptr_tko' op expected a memory scope, since the ordering is release",
    ),
    "weak store with a scope": Case(
        "%u = store_ptr_tko weak device %ps, %f : tile<16xptr<f32>>, tile<16xf32> -> token",
        "'cuda_tile.store_ptr_tko' op expected no memory scope, since the ordering is weak, "
        "got device",
    ),
    "store of another element": Case(
        "%u = store_ptr_tko weak %ps, %i : tile<16xptr<f32>>, tile<16xi32> -> token",
        "'cuda_tile.store_ptr_tko' op expected a value of 'f32' as the pointers have, got 'i32'",
    ),
    "store of another shape": Case(
        "%u = store_ptr_tko weak %ps, %x : tile<16xptr<f32>>, tile<f32> -> token",
        "'cuda_tile.store_ptr_tko' op expected destination and value and mask to have the same "
        "shape, got 16 and scalar",
    ),
    "store mask of another shape": Case(
        "%u = store_ptr_tko weak %ps, %f, %c : tile<16xptr<f32>>, tile<16xf32>, tile<i1> -> token",
        "'cuda_tile.store_ptr_tko' op expected destination and value and mask to have the same "
        "shape, got 16 and 16 and scalar",
    ),
    "alloca alignment": Case(
        "%r = alloca num_elem = 4, alignment = 24 : tile<ptr<f32>>",
        "'cuda_tile.alloca' op expected an alignment that is a power of two, got 24",
    ),
    "alloca without alignment": Case(
        "%r = alloca num_elem = 4, alignment = 0 : tile<ptr<f32>>",
        "'cuda_tile.alloca' op expected an alignment that is a power of two, got 0",
    ),
    "alloca below the natural alignment": Case(
        "%r = alloca num_elem = 4, alignment = 4 : tile<ptr<f64>>",
        "'cuda_tile.alloca' op expected an alignment of at least 8 for 'f64', got 4",
    ),
}

ATOMICS = {
    "weak exchange": Case(
        "%r, %u = atomic_cas_tko weak device %ps, %f, %f : tile<16xptr<f32>>, tile<16xf32> "
        "-> tile<16xf32>, token",
        "'cuda_tile.atomic_cas_tko' op expected a memory ordering out of relaxed, acquire, "
        "release, acq_rel, got weak",
    ),
    "exchange of another element": Case(
        "%r, %u = atomic_cas_tko relaxed device %ps, %i, %i : tile<16xptr<f32>>, tile<16xi32> "
        "-> tile<16xi32>, token",
        "'cuda_tile.atomic_cas_tko' op expected values of 'f32' as the pointers have, got 'i32'",
    ),
    "exchange of 16 bits": Case(
        "%d = constant <f16: 0.0> : tile<16xf16> "
        "%r, %u = atomic_cas_tko relaxed device %h, %d, %d : tile<16xptr<f16>>, tile<16xf16> "
        "-> tile<16xf16>, token",
        "'cuda_tile.atomic_cas_tko' op works on i32, i64, f32, f64, got 'f16'",
    ),
    "exchange with a mask of another shape": Case(
        "%r, %u = atomic_cas_tko relaxed device %ps, %f, %f, %c : tile<16xptr<f32>>, "
        "tile<16xf32>, tile<i1> -> tile<16xf32>, token",
        "'cuda_tile.atomic_cas_tko' op expected pointers and cmp and mask to have the same shape, "
        "got 16 and 16 and scalar",
    ),
    "weak update": Case(
        "%r, %u = atomic_rmw_tko weak device %ps, addf, %f : tile<16xptr<f32>>, tile<16xf32> "
        "-> tile<16xf32>, token",
        "'cuda_tile.atomic_rmw_tko' op expected a memory ordering out of relaxed, acquire, "
        "release, acq_rel, got weak",
    ),
    "update with another element": Case(
        "%r, %u = atomic_rmw_tko relaxed device %ps, add, %i : tile<16xptr<f32>>, tile<16xi32> "
        "-> tile<16xi32>, token",
        "'cuda_tile.atomic_rmw_tko' op expected values of 'f32' as the pointers have, got 'i32'",
    ),
    "update with a mask of another shape": Case(
        "%r, %u = atomic_rmw_tko relaxed device %ps, addf, %f, %c : tile<16xptr<f32>>, "
        "tile<16xf32>, tile<i1> -> tile<16xf32>, token",
        "'cuda_tile.atomic_rmw_tko' op expected pointers and arg and mask to have the same shape, "
        "got 16 and 16 and scalar",
    ),
    "integer mode on floats": Case(
        "%r, %u = atomic_rmw_tko relaxed device %ps, umin, %f : tile<16xptr<f32>>, tile<16xf32> "
        "-> tile<16xf32>, token",
        "'cuda_tile.atomic_rmw_tko' op 'umin' works on i32, i64, got 'f32'",
    ),
    "float mode on integers": Case(
        "%r, %u = atomic_rmw_tko relaxed device %qs, addf, %i : tile<16xptr<i32>>, tile<16xi32> "
        "-> tile<16xi32>, token",
        "'cuda_tile.atomic_rmw_tko' op 'addf' works on f16, bf16, f32, f64, got 'i32'",
    ),
    "exchange mode on 16 bits": Case(
        "%d = constant <f16: 0.0> : tile<16xf16> "
        "%r, %u = atomic_rmw_tko relaxed device %h, xchg, %d : tile<16xptr<f16>>, tile<16xf16> "
        "-> tile<16xf16>, token",
        "'cuda_tile.atomic_rmw_tko' op 'xchg' works on i32, i64, f32, f64, got 'f16'",
    ),
    "reduction exchanges": Case(
        f"%u = atomic_red_view_tko relaxed device %v[%n, %n], xchg, %w : tile<8x64xf32>, {PV}, "
        "tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected a mode that combines, got xchg",
    ),
    "reduction with an integer mode": Case(
        f"%u = atomic_red_view_tko relaxed device %v[%n, %n], add, %w : tile<8x64xf32>, {PV}, "
        "tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op 'add' works on i32, i64, got 'f32'",
    ),
    "reduction acquires": Case(
        f"%u = atomic_red_view_tko acquire device %v[%n, %n], addf, %w : tile<8x64xf32>, {PV}, "
        "tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected memory ordering relaxed, got acquire",
    ),
    "reduction in the system": Case(
        f"%u = atomic_red_view_tko relaxed sys %v[%n, %n], addf, %w : tile<8x64xf32>, {PV}, "
        "tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected memory scope tl_blk or device, got sys",
    ),
    "reduction scatters": Case(
        f"%u = atomic_red_view_tko relaxed device %g[%n, %n], addf, %w : tile<8x64xf32>, {GV}, "
        "tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected a partition_view or strided_view, got a "
        "gather_scatter_view",
    ),
    "reduction with padding": Case(
        f"%u = atomic_red_view_tko relaxed device %pad[%n, %n], addf, %w : tile<8x64xf32>, "
        f"{PADDED}, tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected a view without padding, got zero",
    ),
    "reduction of another tile": Case(
        f"%u = atomic_red_view_tko relaxed device %v[%n, %n], addf, %f : tile<16xf32>, {PV}, "
        "tile<i32> -> token",
        f"'cuda_tile.atomic_red_view_tko' op expected a value of type '{TILE}<8x64xf32>', "
        f"got '{TILE}<16xf32>'",
    ),
    "reduction with one index": Case(
        f"%u = atomic_red_view_tko relaxed device %v[%n], addf, %w : tile<8x64xf32>, {PV}, "
        "tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected 2 indices, got 1",
    ),
    "reduction with a tile as index": Case(
        f"%u = atomic_red_view_tko relaxed device %v[%n, %i], addf, %w : tile<8x64xf32>, {PV}, "
        "tile<i32>, tile<16xi32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected index #1 to be a scalar, got "
        f"'{TILE}<16xi32>'",
    ),
}

LOADS = "'cuda_tile.multimem_load_reduce_view_tko' op"
REDUCES = "'cuda_tile.multimem_reduce_view_tko' op"
STORES = "'cuda_tile.multimem_store_view_tko' op"
MULTIMEM_LOAD = "%r, %u = multimem_load_reduce_view_tko"
MULTIMEM_REDUCE = "%u = multimem_reduce_view_tko"
MULTIMEM_STORE = "%u = multimem_store_view_tko"
STORED = f": tile<8x64xf32>, {PV}, tile<i32> -> token"
LOADED = f": {PV}, tile<i32> -> tile<8x64xf32>, token"

PREVIEW = {
    "reduction with bounds of one index": Case(
        f"%u = atomic_red_view_tko relaxed device %v[%n, %n], addf, %w inbounds = [true] : "
        f"tile<8x64xf32>, {PV}, tile<i32> -> token",
        "'cuda_tile.atomic_red_view_tko' op expected inbounds for 2 indices, got 1",
    ),
    "multimem load releases": Case(
        f"{MULTIMEM_LOAD} release sys %v[%n, %n], add {LOADED}",
        f"{LOADS} expected a memory ordering out of weak, relaxed, acquire, got release",
    ),
    "multimem load in a scope": Case(
        f"{MULTIMEM_LOAD} relaxed %v[%n, %n], add {LOADED}",
        f"{LOADS} expected a memory scope, since the ordering is relaxed",
    ),
    "multimem maximum of f32": Case(
        f"{MULTIMEM_LOAD} weak %v[%n, %n], max {LOADED}",
        f"{LOADS} 'max' works on i32, i64, f16, bf16, got 'f32'",
    ),
    "multimem load with one index": Case(
        f"{MULTIMEM_LOAD} weak %v[%n], add {LOADED}",
        f"{LOADS} expected 2 indices, got 1",
    ),
    "multimem load with bounds of one index": Case(
        f"{MULTIMEM_LOAD} weak %v[%n, %n], add inbounds = [true] {LOADED}",
        f"{LOADS} expected inbounds for 2 indices, got 1",
    ),
    "multimem reduction acquires": Case(
        f"{MULTIMEM_REDUCE} acquire sys %v[%n, %n], add, %w {STORED}",
        f"{REDUCES} expected a memory ordering out of relaxed, release, got acquire",
    ),
    "multimem reduction by and of f32": Case(
        f"{MULTIMEM_REDUCE} relaxed sys %v[%n, %n], and, %w {STORED}",
        f"{REDUCES} 'and' works on i32, i64, got 'f32'",
    ),
    "multimem reduction of another tile": Case(
        f"{MULTIMEM_REDUCE} relaxed sys %v[%n, %n], add, %f : tile<16xf32>, {PV}, tile<i32> "
        "-> token",
        f"{REDUCES} expected a tile of type '{TILE}<8x64xf32>', got '{TILE}<16xf32>'",
    ),
    "multimem store acquires": Case(
        f"{MULTIMEM_STORE} acquire sys %w, %v[%n, %n] {STORED}",
        f"{STORES} expected a memory ordering out of weak, relaxed, release, got acquire",
    ),
    "multimem store with bounds of one index": Case(
        f"{MULTIMEM_STORE} weak %w, %v[%n, %n] inbounds = [true] {STORED}",
        f"{STORES} expected inbounds for 2 indices, got 1",
    ),
}

LOAD = "%r, %u = load_view_tko"
TO_TILE = "-> tile<8x64xf32>, token"

VIEWS = {
    "pointer to another element": Case(
        '%r = "cuda_tile.make_tensor_view"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : '
        "(!cuda_tile.tile<ptr<i32>>) -> !cuda_tile.tensor_view<4xf32, strides=[1]>",
        "'cuda_tile.make_tensor_view' op expected a pointer to 'f32', got one to 'i32'",
    ),
    "attribute of the pointer lost": Case(
        '%r = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : '
        "(!cuda_tile.tile<ptr<f32>>) -> "
        "!cuda_tile.tensor_view<4xf32, strides=[1], #cuda_tile.ptr_attr<none>>",
        "'cuda_tile.make_tensor_view' op expected the tensor_view to have the attribute of the "
        "pointer",
    ),
    "missing extent": Case(
        '%r = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : '
        "(!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>",
        "'cuda_tile.make_tensor_view' op expected 1 dynamic shape operands, got 0",
    ),
    "surplus stride": Case(
        '%r = "cuda_tile.make_tensor_view"(%p, %n) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : '
        "(!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> "
        "!cuda_tile.tensor_view<4xf32, strides=[1]>",
        "'cuda_tile.make_tensor_view' op expected 0 dynamic stride operands, got 1",
    ),
    "extents of two types": Case(
        '%r = "cuda_tile.make_tensor_view"(%p, %n, %l) <{operandSegmentSizes = '
        "array<i32: 1, 1, 1>}> : "
        "(!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> "
        "!cuda_tile.tensor_view<?xf32, strides=[?]>",
        "'cuda_tile.make_tensor_view' op expected dynamic shapes and strides of one type, got "
        f"'{TILE}<i32>' and '{TILE}<i64>'",
    ),
    "view of another tensor": Case(
        f'%r = "cuda_tile.make_partition_view"(%tv) : (!cuda_tile.{TV}) -> '
        "!cuda_tile.partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>",
        "'cuda_tile.make_partition_view' op expected a tensor of type "
        f"'!cuda_tile.tensor_view<8xf32, strides=[1]>', got '!cuda_tile.{TV}'",
    ),
    "tensor shape of another rank": Case(
        f'%r = "cuda_tile.get_tensor_shape"(%tv) : (!cuda_tile.{TV}) -> !cuda_tile.tile<i32>',
        "'cuda_tile.get_tensor_shape' op expected 2 results, one a dimension, got 1",
    ),
    "index space of another rank": Case(
        f'%r:3 = "cuda_tile.get_index_space_shape"(%v) : (!cuda_tile.{PV}) -> '
        "(!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>)",
        "'cuda_tile.get_index_space_shape' op expected 2 results, one a dimension, got 3",
    ),
    "view load releases": Case(
        f"{LOAD} release device %v[%n, %n] : {PV}, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected a memory ordering out of weak, relaxed, acquire, "
        "got release",
    ),
    "weak view load with a scope": Case(
        f"{LOAD} weak device %v[%n, %n] : {PV}, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected no memory scope, since the ordering is weak, "
        "got device",
    ),
    "acquire view load without scope": Case(
        f"{LOAD} acquire %v[%n, %n] : {PV}, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected a memory scope, since the ordering is acquire",
    ),
    "one index": Case(
        f"{LOAD} weak %v[%n] : {PV}, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected 2 indices, got 1",
    ),
    "load of another tile": Case(
        f"{LOAD} weak %v[%n, %n] : {PV}, tile<i32> -> tile<64x8xf32>, token",
        f"'cuda_tile.load_view_tko' op expected a tile of type '{TILE}<8x64xf32>', "
        f"got '{TILE}<64x8xf32>'",
    ),
    "inbounds for too many indices": Case(
        f"{LOAD} weak %v[%n, %n] inbounds = [true, false, true] : {PV}, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected inbounds for 2 indices, got 3",
    ),
    "tile as index": Case(
        f"{LOAD} weak %v[%i, %n] : {PV}, tile<16xi32>, tile<i32> {TO_TILE}",
        f"'cuda_tile.load_view_tko' op expected a scalar index, got '{TILE}<16xi32>'",
    ),
    "indices of two types": Case(
        f"{LOAD} weak %v[%l, %n] : {PV}, tile<i64>, tile<i32> {TO_TILE}",
        f"'cuda_tile.load_view_tko' op expected indices of one type, got '{TILE}<i64>' and "
        f"'{TILE}<i32>'",
    ),
    "gather by a scalar": Case(
        f"{LOAD} weak %g[%n, %n] : {GV}, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected index #0, that of the sparse dimension, to be a "
        f"tile of 8 integers, got '{TILE}<i32>'",
    ),
    "gather by too many": Case(
        f"{LOAD} weak %g[%i, %n] : {GV}, tile<16xi32>, tile<i32> {TO_TILE}",
        "'cuda_tile.load_view_tko' op expected index #0, that of the sparse dimension, to be a "
        f"tile of 8 integers, got '{TILE}<16xi32>'",
    ),
    "view store acquires": Case(
        f"%u = store_view_tko acquire device %w, %v[%n, %n] : tile<8x64xf32>, {PV}, tile<i32> "
        "-> token",
        "'cuda_tile.store_view_tko' op expected a memory ordering out of weak, relaxed, release, "
        "got acquire",
    ),
    "store of another tile": Case(
        f"%u = store_view_tko weak %f, %v[%n, %n] : tile<16xf32>, {PV}, tile<i32> -> token",
        f"'cuda_tile.store_view_tko' op expected a tile of type '{TILE}<8x64xf32>', "
        f"got '{TILE}<16xf32>'",
    ),
}
