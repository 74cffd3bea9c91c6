; What LLVM makes of integers, floats, atomics and memory of its own.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.fshl.i32(i32,i32,i32)
declare i64 @llvm.fshr.i64(i64,i64,i64)
declare i32 @llvm.ctlz.i32(i32,i1)
declare i64 @llvm.cttz.i64(i64,i1)
declare i64 @llvm.ctpop.i64(i64)
declare i16 @llvm.bitreverse.i16(i16)
declare i32 @llvm.bswap.i32(i32)
declare i64 @llvm.bswap.i64(i64)
declare i32 @llvm.sadd.sat.i32(i32,i32)
declare i8 @llvm.usub.sat.i8(i8,i8)
declare i32 @llvm.smax.i32(i32,i32)
declare i32 @llvm.abs.i32(i32,i1)
declare <2 x half> @llvm.fma.v2f16(<2 x half>,<2 x half>,<2 x half>)
declare <2 x bfloat> @llvm.fma.v2bf16(<2 x bfloat>,<2 x bfloat>,<2 x bfloat>)
declare float @llvm.minnum.f32(float,float)
declare float @llvm.maximum.f32(float,float)
declare double @llvm.fma.f64(double,double,double)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i8 @llvm.fptoui.sat.i8.f64(double)
declare float @llvm.floor.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.copysign.f32(float,float)
declare {i32,i1} @llvm.umul.with.overflow.i32(i32,i32)
declare void @llvm.memcpy.p0.p0.i64(ptr,ptr,i64,i1)
declare void @llvm.memset.p0.i64(ptr,i8,i64,i1)
define ptx_kernel void @ints(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i64, ptr addrspace(1) %x, i32 %t
  %v = load i64, ptr addrspace(1) %p
  %a = trunc i64 %v to i32
  %h = lshr i64 %v, 32
  %b = trunc i64 %h to i32
  %q = getelementptr [16 x i64], ptr addrspace(1) %y, i32 %t
  %f = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %b)
  %f64 = zext i32 %f to i64
  store i64 %f64, ptr addrspace(1) %q
  %g = call i64 @llvm.fshr.i64(i64 %v, i64 %f64, i64 %h)
  %q1 = getelementptr i64, ptr addrspace(1) %q, i32 1
  store i64 %g, ptr addrspace(1) %q1
  %c1 = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %c2 = call i64 @llvm.cttz.i64(i64 %v, i1 false)
  %c3 = call i64 @llvm.ctpop.i64(i64 %v)
  %c1w = zext i32 %c1 to i64
  %c12 = mul i64 %c2, 100
  %c13 = mul i64 %c3, 10000
  %s1 = add i64 %c1w, %c12
  %s2 = add i64 %s1, %c13
  %q2 = getelementptr i64, ptr addrspace(1) %q, i32 2
  store i64 %s2, ptr addrspace(1) %q2
  %tr = trunc i32 %a to i16
  %br = call i16 @llvm.bitreverse.i16(i16 %tr)
  %brw = sext i16 %br to i64
  %q3 = getelementptr i64, ptr addrspace(1) %q, i32 3
  store i64 %brw, ptr addrspace(1) %q3
  %bs = call i64 @llvm.bswap.i64(i64 %v)
  %q4 = getelementptr i64, ptr addrspace(1) %q, i32 4
  store i64 %bs, ptr addrspace(1) %q4
  %sa = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)
  %saw = sext i32 %sa to i64
  %q5 = getelementptr i64, ptr addrspace(1) %q, i32 5
  store i64 %saw, ptr addrspace(1) %q5
  %e1 = trunc i32 %a to i8
  %e2 = trunc i32 %b to i8
  %us = call i8 @llvm.usub.sat.i8(i8 %e1, i8 %e2)
  %usw = zext i8 %us to i64
  %q6 = getelementptr i64, ptr addrspace(1) %q, i32 6
  store i64 %usw, ptr addrspace(1) %q6
  %w1 = sext i64 %v to i128
  %w2 = zext i32 %a to i128
  %w2o = or i128 %w2, 3
  %pr = mul i128 %w1, %w1
  %dv = sdiv i128 %pr, %w2o
  %dvl = trunc i128 %dv to i64
  %q7 = getelementptr i64, ptr addrspace(1) %q, i32 7
  store i64 %dvl, ptr addrspace(1) %q7
  %sd = or i64 %h, 1
  %rem = srem i64 %v, %sd
  %q8 = getelementptr i64, ptr addrspace(1) %q, i32 8
  store i64 %rem, ptr addrspace(1) %q8
  %ov = call {i32,i1} @llvm.umul.with.overflow.i32(i32 %a, i32 %b)
  %ov1 = extractvalue {i32,i1} %ov, 1
  %ovs = select i1 %ov1, i64 7, i64 9
  %q9 = getelementptr i64, ptr addrspace(1) %q, i32 9
  store i64 %ovs, ptr addrspace(1) %q9
  ret void
}
define ptx_kernel void @floats(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr <2 x float>, ptr addrspace(1) %x, i32 %t
  %v = load <2 x float>, ptr addrspace(1) %p
  %a = extractelement <2 x float> %v, i32 0
  %b = extractelement <2 x float> %v, i32 1
  %q = getelementptr [12 x float], ptr addrspace(1) %y, i32 %t
  %hv = fptrunc <2 x float> %v to <2 x half>
  %hf = call <2 x half> @llvm.fma.v2f16(<2 x half> %hv, <2 x half> %hv, <2 x half> %hv)
  store <2 x half> %hf, ptr addrspace(1) %q
  %bv = fptrunc <2 x float> %v to <2 x bfloat>
  %bf = fadd <2 x bfloat> %bv, %bv
  %q1 = getelementptr float, ptr addrspace(1) %q, i32 1
  store <2 x bfloat> %bf, ptr addrspace(1) %q1
  %mn = call float @llvm.minnum.f32(float %a, float %b)
  %q2 = getelementptr float, ptr addrspace(1) %q, i32 2
  store float %mn, ptr addrspace(1) %q2
  %mx = call float @llvm.maximum.f32(float %a, float %b)
  %q3 = getelementptr float, ptr addrspace(1) %q, i32 3
  store float %mx, ptr addrspace(1) %q3
  %si = call i32 @llvm.fptosi.sat.i32.f32(float %a)
  %q4 = getelementptr float, ptr addrspace(1) %q, i32 4
  store i32 %si, ptr addrspace(1) %q4
  %fl = call float @llvm.floor.f32(float %a)
  %re = call float @llvm.roundeven.f32(float %b)
  %sum = fadd float %fl, %re
  %q5 = getelementptr float, ptr addrspace(1) %q, i32 5
  store float %sum, ptr addrspace(1) %q5
  %aa = fmul float %a, %a
  %sq = call float @llvm.sqrt.f32(float %aa)
  %cs = call float @llvm.copysign.f32(float %sq, float %b)
  %q6 = getelementptr float, ptr addrspace(1) %q, i32 6
  store float %cs, ptr addrspace(1) %q6
  %cmp = fcmp ueq float %a, %b
  %cmp2 = fcmp one float %a, 0.0
  %both = xor i1 %cmp, %cmp2
  %sel = select i1 %both, float 1.0, float 2.0
  %q7 = getelementptr float, ptr addrspace(1) %q, i32 7
  store float %sel, ptr addrspace(1) %q7
  %ui = uitofp i1 %both to float
  %fr = frem float %a, %b
  %dv = fdiv float %a, %b
  %q8 = getelementptr float, ptr addrspace(1) %q, i32 8
  store float %dv, ptr addrspace(1) %q8
  %q9 = getelementptr float, ptr addrspace(1) %q, i32 9
  store float %fr, ptr addrspace(1) %q9
  %q10 = getelementptr float, ptr addrspace(1) %q, i32 10
  store float %ui, ptr addrspace(1) %q10
  ret void
}
define ptx_kernel void @atomics(ptr addrspace(1) %x, ptr %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = atomicrmw add ptr addrspace(1) %x, i32 %t seq_cst
  %p1 = getelementptr i32, ptr addrspace(1) %x, i32 1
  %o2 = atomicrmw uinc_wrap ptr addrspace(1) %p1, i32 20 monotonic
  %p2 = getelementptr i32, ptr addrspace(1) %x, i32 2
  %f = uitofp i32 %t to float
  %o3 = atomicrmw fadd ptr addrspace(1) %p2, float %f acq_rel
  %p3 = getelementptr i32, ptr addrspace(1) %x, i32 3
  %o4 = atomicrmw nand ptr addrspace(1) %p3, i32 %t monotonic
  %p4 = getelementptr i8, ptr addrspace(1) %x, i32 16
  %tb = trunc i32 %t to i8
  %o5 = atomicrmw max ptr addrspace(1) %p4, i8 %tb monotonic
  %p5 = getelementptr i64, ptr addrspace(1) %x, i32 3
  %t64 = zext i32 %t to i64
  %o6 = atomicrmw umax ptr addrspace(1) %p5, i64 %t64 monotonic
  fence seq_cst
  %l = load atomic i32, ptr %y acquire, align 4
  store atomic i32 %l, ptr %y release, align 4
  %buf = alloca [40 x i8], align 4
  call void @llvm.memset.p0.i64(ptr %buf, i8 5, i64 40, i1 false)
  %b5 = getelementptr i8, ptr %buf, i32 %t
  store i8 9, ptr %b5
  %q = getelementptr i8, ptr %y, i64 8
  %qq = getelementptr [40 x i8], ptr %q, i32 %t
  call void @llvm.memcpy.p0.p0.i64(ptr %qq, ptr %buf, i64 40, i1 false)
  ret void
}
