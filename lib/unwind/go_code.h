/*
 * Finds the code of a file that Go's compiler and assembler have generated, and
 * the functions in it that start or switch stacks.
 *
 * A thread of a Go program has a system stack (that of g0) in addition to the
 * stack of the goroutine that it executes. C code and the runtime itself run on
 * the system stack. On x86-64, in Go 1.18 to 1.26:
 *
 * - runtime.asmcgocall and runtime.systemstack run on the goroutine's stack and
 *   call a function on the system stack, which continues at g0.sched.sp. They
 *   save their own position in g.sched, as if runtime.systemstack_switch had
 *   been called.
 * - runtime.cgocallback is called by C on the system stack. It has a frame
 *   there and another one on the goroutine's stack, where it calls Go. Its
 *   frame pointer is that of the system stack. Its caller crosscall2 has a
 *   frame pointer that differs from those of Go functions.
 * - runtime.morestack is called by a function whose frame does not fit the
 *   stack. It calls newstack on the system stack. The position of that function
 *   is in g.sched.
 *
 * On all architectures the first function of a goroutine returns to
 * runtime.goexit, which did not call it. The words above that return address
 * belong to a former user of the stack.
 *
 * Source: runtime/asm_amd64.s and cgocall.go of Go; go_table.h.
 */
#ifndef PROF_UNWIND_GO_CODE_H
#define PROF_UNWIND_GO_CODE_H

#include "elf/go_table.h"

enum go_function {
	GO_NONE, /* not Go code */
	GO_ORDINARY,
	GO_EXIT,	 /* runtime.goexit */
	GO_CALLS_C,	 /* runtime.asmcgocall */
	GO_SYSTEM_STACK, /* runtime.systemstack */
	GO_MORE_STACK,	 /* runtime.morestack */
	GO_CALLED_BY_C,	 /* runtime.cgocallback */
	GO_FROM_C,	 /* crosscall2, which calls runtime.cgocallback */
};

enum { GO_SPECIAL_MAX = 8 };

struct go_code {
	bool is_of_go; /* at least a part of the file is Go code */
	/*
	 * Borrowed from the ELF file. Its count is 0 if the table must not be
	 * read later.
	 */
	struct go_table table;
	uint64_t start, end; /* vaddrs of the Go code; 0 if unknown */
	struct go_special {
		uint64_t start, end;
		enum go_function function;
	} special[GO_SPECIAL_MAX];
	unsigned special_count;
};

/*
 * Reads the function table once, which takes milliseconds. The ELF file must
 * outlive the result.
 */
void go_code_read(struct go_code *code, struct elf_file *elf);

/*
 * Finds how many bytes of the frame of the function at vaddr lie below its
 * return address. Returns false if the table does not contain it. Also returns
 * false for files that other users may write to, because their tables are not
 * read again. Source: pcsp of _func.
 */
bool go_code_depth(const struct go_code *code, uint64_t vaddr, uint32_t *ret);

/* Returns GO_NONE if the range of Go code is unknown. */
enum go_function go_code_at(const struct go_code *code, uint64_t vaddr);

#endif
