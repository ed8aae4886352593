// Go and C functions that call each other, each on its own stack. The C code uses rbp, Go's frame pointer, for a number.
//
//	main.main
//	  main.calls → C: c_outer
//	    c_middle
//	      c_leaf        a third: of it
//	  main.callsBack → C: c_returns
//	    goBack → main.back
//	      main.leaf     a third
//	      main.again → C: c_outer
//	        c_middle
//	          c_leaf    a third
package main

/*
static volatile unsigned long sink;
static __attribute__((noinline)) void c_leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
static __attribute__((noinline)) void c_middle(unsigned long n, unsigned long value)
{
	__asm__ volatile("mov %0,%%rbp" : : "r"(value) : "rbp");
	c_leaf(n);
	__asm__ volatile("" : : : "rbp");
}
static __attribute__((noinline)) void c_outer(unsigned long n, unsigned long value) { c_middle(n, value); __asm__ volatile(""); }
extern void goBack(unsigned long n);
static __attribute__((noinline)) void c_returns(unsigned long n) { goBack(n); __asm__ volatile(""); }
*/
import "C"

import (
	"os"
	"strconv"
)

const rounds = 1000000

var sink uint64

//go:noinline
func leaf(n uint64) {
	for i := uint64(0); i < n; i++ {
		sink += i ^ (sink >> 3)
	}
}

//go:noinline
func again(n uint64) { C.c_outer(C.ulong(n), 1); sink++ }

//go:noinline
func back(n uint64) { leaf(n); again(n); sink++ }

//export goBack
func goBack(n C.ulong) { back(uint64(n)); sink++ }

//go:noinline
func calls(n uint64) { C.c_outer(C.ulong(n), 0); sink++ }

//go:noinline
func callsBack(n uint64) { C.c_returns(C.ulong(n)); sink++ }

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	for i := 0; i < int(seconds*150); i++ {
		calls(rounds)
		callsBack(rounds)
	}
}
