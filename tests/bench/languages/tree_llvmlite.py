"""Runs a tree of functions that LLVM's MCJIT compiles from text, for two seconds of CPU time."""

import ctypes
import time

import llvmlite.binding as llvm

TREE = """
define double @leaf(i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %s = phi double [1.0, %entry], [%t, %loop]
  %d = sitofp i64 %i to double
  %q = fdiv double %d, %s
  %t = fadd double %q, 1.0
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %t
}
define double @inner(i64 %n, i64 %depth) noinline {
  %zero = icmp eq i64 %depth, 0
  br i1 %zero, label %stop, label %go
stop:
  %a = call double @leaf(i64 %n)
  ret double %a
go:
  %less = sub i64 %depth, 1
  %b = call double @inner(i64 %n, i64 %less)
  %c = fadd double %b, 1.0
  ret double %c
}
define double @outer(i64 %n) noinline {
  %a = call double @inner(i64 %n, i64 5)
  %b = fadd double %a, 2.0
  ret double %b
}
"""

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
engine = llvm.create_mcjit_compiler(llvm.parse_assembly(TREE), machine)
engine.finalize_object()
outer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(engine.get_function_address("outer"))
end = time.process_time() + 2
while time.process_time() < end:
    outer(1000000)
