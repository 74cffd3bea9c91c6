// Tokens that do not order the accesses that they seem to order, each beside a correct version.
// RUN @not_carried
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at SAME_TOKEN : no token orders them
// RUN @carried
// ARG out = zeros:1xi32
// EXPECT out = 3
// RUN @joined_too_few
// ARG x = zeros:1xi32
// ARG y = zeros:1xi32
// ONLY checked
// FAILS race at FORGOTTEN or BEHIND_ONE : races with another access to argument 1: no token orders them
// RUN @joined
// ARG x = zeros:1xi32
// ARG y = zeros:1xi32
// EXPECT x = 7
// EXPECT y = 7
// RUN @token_from_before
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at BRANCH or BEHIND_BRANCH : no token orders them
// RUN @token_from_branch
// ARG out = zeros:1xi32
// EXPECT out = 8
// RUN @fence_is_no_order
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at FENCED or BEHIND_FENCE : no token orders them
// RUN @program_order_is_no_order
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at ATOMIC or BEHIND_ATOMIC : no token orders them
// RUN @lock_that_nobody_opens grid=2
// ARG lock = zeros:1xi32
// FAILS deadlock at LOCKED : waits for memory that no block is left to change
cuda_tile.module @kernels {
  entry @not_carried(%out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %start = make_token : token
    for %i in (%zero to %four, step %one) : tile<i32> {
      %t = store_ptr_tko weak %out, %i token=%start : tile<ptr<i32>>, tile<i32> -> token // SAME_TOKEN
    }
    return
  }
  entry @carried(%out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %start = make_token : token
    %end = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%before = %start) -> (token) {
      %t = store_ptr_tko weak %out, %i token=%before : tile<ptr<i32>>, tile<i32> -> token
      continue %t : token
    }
    return
  }
  entry @joined_too_few(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %seven = constant <i32: 7> : tile<i32>
    %start = make_token : token
    %t0 = store_ptr_tko weak %x, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %y, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token // FORGOTTEN
    %both = join_tokens %t0, %start : token
    %a, %t2 = load_ptr_tko weak %x token=%both : tile<ptr<i32>> -> tile<i32>, token
    %b, %t3 = load_ptr_tko weak %y token=%both : tile<ptr<i32>> -> tile<i32>, token // BEHIND_ONE
    return
  }
  entry @joined(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %seven = constant <i32: 7> : tile<i32>
    %start = make_token : token
    %t0 = store_ptr_tko weak %x, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %y, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token
    %both = join_tokens %t0, %t1 : token
    %a, %t2 = load_ptr_tko weak %x token=%both : tile<ptr<i32>> -> tile<i32>, token
    %b, %t3 = load_ptr_tko weak %y token=%both : tile<ptr<i32>> -> tile<i32>, token
    return
  }
  entry @token_from_before(%out: tile<ptr<i32>>) {
    %yes = constant <i1: true> : tile<i1>
    %seven = constant <i32: 7> : tile<i32>
    %start = make_token : token
    %after = if %yes -> (token) {
      %t0 = store_ptr_tko weak %out, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token // BRANCH
      yield %start : token
    } else {
      yield %start : token
    }
    %a, %t1 = load_ptr_tko weak %out token=%after : tile<ptr<i32>> -> tile<i32>, token // BEHIND_BRANCH
    return
  }
  entry @token_from_branch(%out: tile<ptr<i32>>) {
    %yes = constant <i1: true> : tile<i1>
    %one = constant <i32: 1> : tile<i32>
    %seven = constant <i32: 7> : tile<i32>
    %start = make_token : token
    %after = if %yes -> (token) {
      %t0 = store_ptr_tko weak %out, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token
      yield %t0 : token
    } else {
      yield %start : token
    }
    %a, %t1 = load_ptr_tko weak %out token=%after : tile<ptr<i32>> -> tile<i32>, token
    %b = addi %a, %one : tile<i32>
    %t2 = store_ptr_tko weak %out, %b token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // A fence orders the accesses of its token, and no others.
  entry @fence_is_no_order(%out: tile<ptr<i32>>) {
    %seven = constant <i32: 7> : tile<i32>
    %start = make_token : token
    %t0 = store_ptr_tko weak %out, %seven token=%start : tile<ptr<i32>>, tile<i32> -> token // FENCED
    %fenced = memory_fence_alias_tko %start
    %a, %t1 = load_ptr_tko weak %out token=%fenced : tile<ptr<i32>> -> tile<i32>, token // BEHIND_FENCE
    return
  }
  // Program order does not order a weak load after an atomic.
  entry @program_order_is_no_order(%out: tile<ptr<i32>>) {
    %seven = constant <i32: 7> : tile<i32>
    %old, %t0 = atomic_rmw_tko acq_rel device %out, add, %seven : tile<ptr<i32>>, tile<i32> -> tile<i32>, token // ATOMIC
    %a, %t1 = load_ptr_tko weak %out : tile<ptr<i32>> -> tile<i32>, token // BEHIND_ATOMIC
    return
  }
  // The block that gets the lock keeps it.
  entry @lock_that_nobody_opens(%lock: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    loop { // LOCKED
      %old, %t = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %got = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
      if %got {
        break
      }
      continue
    }
    return
  }
}
