/*
 * Which code of a file Go's compiler and assembler have made, and which of its functions begin or
 * switch stacks.
 *
 * Each thread of a Go program has a system stack (that of g0), on which C code and the runtime
 * itself run, beside the stack of the goroutine that it executes. On x86-64, in Go 1.18 to 1.26:
 *
 *  - runtime.asmcgocall and systemstack, on the goroutine's stack, call a function on the system
 *    stack, from where that continues at g0.sched.sp. They leave their place in g.sched, as if
 *    runtime.systemstack_switch had been called;
 *  - runtime.cgocallback, called by C on the system stack, has its frame there and again on the
 *    goroutine's stack, where it calls Go. The frame pointer is that of the system stack;
 *    crosscall2, which calls it, has another frame pointer than Go's functions;
 *  - runtime.morestack, called by a function whose frame does not fit, calls newstack on the
 *    system stack. That function's place is in g.sched.
 *
 * On all machines the first function of a goroutine returns to runtime.goexit, which did not call
 * it. Above it are the words of the stack's former user.
 *
 * Source: runtime/asm_amd64.s and cgocall.go of Go; go_table.h.
 */
#ifndef PROF_UNWIND_GO_CODE_H
#define PROF_UNWIND_GO_CODE_H

#include "elf/go_table.h"

enum go_function {
	GO_NONE, /* not of Go */
	GO_ORDINARY,
	GO_EXIT,	 /* runtime.goexit */
	GO_CALLS_C,	 /* runtime.asmcgocall */
	GO_SYSTEM_STACK, /* runtime.systemstack */
	GO_MORE_STACK,	 /* runtime.morestack */
	GO_CALLED_BY_C,	 /* runtime.cgocallback */
	GO_FROM_C,	 /* crosscall2, which calls that one */
};

enum { GO_SPECIAL_MAX = 8 };

struct go_code {
	bool is_of_go;	       /* at least a part of the file is of Go */
	struct go_table table; /* borrowed from the ELF file; count 0: not to be read later */
	uint64_t start, end;   /* vaddrs of that part; 0: unknown */
	struct go_special {
		uint64_t start, end;
		enum go_function function;
	} special[GO_SPECIAL_MAX];
	unsigned special_count;
};

/* Reads the table of functions once; takes milliseconds. The ELF file must outlive it. */
void go_code_read(struct go_code *code, struct elf_file *elf);

/*
 * How many bytes of the frame of the function at vaddr lie below its return address; false if the
 * table does not say so, and for files that others may write to, whose tables are not read again.
 * Source: pcsp of _func.
 */
bool go_code_depth(const struct go_code *code, uint64_t vaddr, uint32_t *ret);

/* GO_NONE where the part is unknown. */
enum go_function go_code_at(const struct go_code *code, uint64_t vaddr);

#endif
