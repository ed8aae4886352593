/*
 * Unwinds each sleeping thread of processes twice: from sp and pc alone, as
 * read from /proc/TID/syscall, and from all registers, which are read with
 * ptrace(2) afterwards.
 *
 *	sleeping_threads [-v] PID…
 *
 * Prints both walks of threads for which they disagree, or of all threads with
 * -v. Then prints the number of threads, how many reached their root from all
 * registers, how many of these did from sp and pc alone, how many stacks from
 * sp and pc were wrong, the size of the largest stack, how many stacks needed a
 * second or a third copy, and the mean time of a walk. A truncated stack is
 * wrong if one of its frames is wrong. A frame is shown as FILE+VADDR of the
 * call. x86-64 only.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "proc/memory.h"
#include "unwind/unwind.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* The size of the first copy of the stack, as for a snapshot, and a size that
 * is always sufficient. */
enum { FIRST_BYTES = 16 << 10, STACK_BYTES = 256 << 10, COPIES_MAX = 4, TIMED_WALKS = 100 };

struct walked {
	enum unwind_stop stop;
	struct call_chain chain;
	struct frame frames[UNWIND_DEPTH_MAX];
};

struct tool {
	bool is_verbose;
	struct address_spaces *spaces;
	struct unwinder *unwinder;
	unsigned char *stack;
	uint64_t stack_len;
	struct walked bare, full;
	unsigned long threads, roots, bare_roots, wrong, second, third;
	uint64_t largest_bytes, walks_ns;
};

/* Returns false if the thread runs or has ended. */
static bool read_sp_and_pc(pid_t tid, struct regs *ret)
{
	char path[64], line[256] = "";
	uint64_t sp, pc;
	FILE *file;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	if (!(file = fopen(path, "re")))
		return false;
	found = fgets(line, sizeof(line), file) &&
		(sscanf(line, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &sp, &pc) == 2 ||
		 sscanf(line, "-1 %" SCNx64 " %" SCNx64, &sp, &pc) == 2);
	fclose(file);
	if (!found)
		return false;
	*ret = (struct regs){.pc = pc};
	regs_set(ret, arch_native()->sp, sp);
	return true;
}

/* Reads the registers and the stack at the same time. Returns false if the
 * thread has run since, or cannot be traced. */
static bool read_all_registers(struct tool *tool, pid_t tid, const struct regs *bare,
			       struct regs *ret)
{
	struct user_regs_struct user;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return false;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_GETREGS, tid, NULL, &user);
	tool->stack_len = memory_read(tid, bare->values[arch_native()->sp], tool->stack,
				      STACK_BYTES);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	const uint64_t by_dwarf[] = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
				     user.rbp, user.rsp, user.r8,  user.r9,  user.r10, user.r11,
				     user.r12, user.r13, user.r14, user.r15};

	*ret = (struct regs){.pc = user.rip};
	for (unsigned i = 0; i < ARRAY_SIZE(by_dwarf); i++)
		regs_set(ret, i, by_dwarf[i]);
	return user.rip == bare->pc && user.rsp == bare->values[arch_native()->sp];
}

static void walk(struct tool *tool, pid_t pid, const struct regs *regs, uint64_t stack_len,
		 struct walked *walked)
{
	const struct stack_copies stacks = {.own = bytes_of(tool->stack, stack_len)};

	walked->chain = (struct call_chain){.frames = walked->frames, .room = UNWIND_DEPTH_MAX};
	walked->stop = unwinder_walk(tool->unwinder, pid, clock_now_ns(), regs, &stacks,
				     &walked->chain);
}

/* Makes a larger copy if the walk requests it, like a recorder. */
static void walk_bare(struct tool *tool, pid_t pid, const struct regs *regs)
{
	uint64_t len = FIRST_BYTES < tool->stack_len ? FIRST_BYTES : tool->stack_len;
	unsigned copies = 1;

	walk(tool, pid, regs, len, &tool->bare);
	while (tool->bare.stop == UNWIND_TRUNCATED && tool->bare.chain.needed_bytes > len &&
	       len < tool->stack_len && copies++ < COPIES_MAX) {
		len = tool->bare.chain.needed_bytes + FIRST_BYTES;
		if (len > tool->stack_len)
			len = tool->stack_len;
		walk(tool, pid, regs, len, &tool->bare);
	}
	tool->second += copies > 1;
	tool->third += copies > 2;
}

static bool frames_agree(const struct walked *bare, const struct walked *full)
{
	if (bare->chain.count > full->chain.count ||
	    (bare->stop == UNWIND_ROOT && bare->chain.count < full->chain.count))
		return false;
	for (unsigned i = 0; i < bare->chain.count; i++)
		if (bare->frames[i].module != full->frames[i].module ||
		    bare->frames[i].offset != full->frames[i].offset)
			return false;
	return true;
}

static void print_walked(const struct tool *tool, const char *from, const struct walked *walked)
{
	static const char *const stops[] = {"root", "truncated", "lost"};

	printf("  %s: %s, needs %" PRIu64 " bytes:", from, stops[walked->stop],
	       walked->chain.needed_bytes);
	for (unsigned i = 0; i < walked->chain.count; i++) {
		const struct frame *frame = &walked->frames[i];
		const struct module *module = address_spaces_module(tool->spaces, frame->module);
		const char *name = strrchr(module->path, '/');
		uint64_t at = frame->offset - frame->is_return_address;

		if (module->elf)
			elf_file_offset_to_vaddr(module->elf, at, &at);
		printf(" %s+%#" PRIx64, name ? name + 1 : module->path, at);
	}
	printf("\n");
}

static void look_at(struct tool *tool, pid_t pid, pid_t tid)
{
	struct regs bare, full;
	uint64_t begin_ns;
	bool agree;

	if (!read_sp_and_pc(tid, &bare) || !read_all_registers(tool, tid, &bare, &full))
		return;
	walk(tool, pid, &full, tool->stack_len, &tool->full);
	begin_ns = clock_now_ns();
	for (unsigned i = 0; i < TIMED_WALKS; i++)
		walk(tool, pid, &bare, tool->stack_len, &tool->bare);
	tool->walks_ns += (clock_now_ns() - begin_ns) / TIMED_WALKS;
	walk_bare(tool, pid, &bare);
	tool->threads++;
	tool->roots += tool->full.stop == UNWIND_ROOT;
	tool->bare_roots += tool->full.stop == UNWIND_ROOT && tool->bare.stop == UNWIND_ROOT;
	agree = frames_agree(&tool->bare, &tool->full);
	tool->wrong += !agree;
	if (tool->full.chain.needed_bytes > tool->largest_bytes)
		tool->largest_bytes = tool->full.chain.needed_bytes;
	if (agree && tool->bare.stop == tool->full.stop && !tool->is_verbose)
		return;
	printf("thread %d of %d: %s\n", (int)tid, (int)pid, agree ? "agree" : "WRONG");
	print_walked(tool, "from sp and pc", &tool->bare);
	print_walked(tool, "from all registers", &tool->full);
}

static void look_at_process(struct tool *tool, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	struct dirent *entry;

	if (!tasks)
		return;
	address_spaces_snapshot(tool->spaces, pid, clock_now_ns());
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			look_at(tool, pid, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(tasks);
}

int main(int argc, char **argv)
{
	struct tool *tool = xcalloc(1, sizeof(*tool));
	int first = 1;

	tool->is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	first += tool->is_verbose;
	if (first >= argc) {
		fprintf(stderr, "usage: sleeping_threads [-v] PID…\n");
		return 2;
	}
	tool->stack = xmalloc(STACK_BYTES);
	tool->spaces = address_spaces_new("/proc");
	tool->unwinder = unwinder_new(tool->spaces, arch_native(), true);
	for (int i = first; i < argc; i++)
		look_at_process(tool, (pid_t)strtol(argv[i], NULL, 10));
	printf("%lu threads, %lu to the root, %lu from sp and pc alone, %lu wrong, "
	       "largest %" PRIu64 " bytes, %lu second copies, %lu third, %.1f us a walk\n",
	       tool->threads, tool->roots, tool->bare_roots, tool->wrong, tool->largest_bytes,
	       tool->second, tool->third,
	       tool->threads ? (double)tool->walks_ns / 1000 / (double)tool->threads : 0);
	unwinder_free(tool->unwinder);
	address_spaces_free(tool->spaces);
	free(tool->stack);
	bool is_wrong = tool->wrong != 0;

	free(tool);
	return is_wrong;
}
