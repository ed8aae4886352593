#include "record/wait_stacks.h"

#include "base/alloc.h"
#include "symbol/demangle.h"
#include "unwind/arch.h"
#include "waiting/reason.h"

#include <stdio.h>
#include <string.h>

/*
 * Limit of stacks in a profile. Above it, wakers have neither frames nor names.
 * The stacks of waits times those of wakers can be many, and any program can
 * wake a thread under any name.
 */
enum { STACKS_MAX = 4 << 20 };

/* Makes a sample of a thread snapshot. Its registers are the stack pointer and
 * the pc. */
static struct record wait_stacks_sample_of(const struct arch *arch, pid_t pid, pid_t tid,
					   uint64_t time_ns, const uint64_t values[2],
					   struct bytes stack)
{
	return (struct record){
		.type = RECORD_SAMPLE,
		.pid = pid,
		.tid = tid,
		.time_ns = time_ns,
		.sample =
			{
				.ip = values[arch->perf_pc > arch->perf_sp],
				.regs = {.abi = 2,
					 .mask = UINT64_C(1) << arch->perf_sp |
						 UINT64_C(1) << arch->perf_pc,
					 .values = bytes_of(values, 2 * sizeof(*values))},
				.stack = stack,
				.dumped_bytes = bytes_left(&stack),
			},
	};
}

static stack_id find_stack(struct session *session, const struct thread_snapshot *snapshot,
			   uint64_t sp, uint64_t pc, struct bytes stack, pid_t tid,
			   struct stack_extent *extent)
{
	const struct arch *arch = arch_native();
	bool pc_is_last = arch->perf_pc > arch->perf_sp;
	const uint64_t values[2] = {pc_is_last ? sp : pc, pc_is_last ? pc : sp};
	struct record record = wait_stacks_sample_of(arch, snapshot->request.pid, tid,
						     snapshot->end_ns, values, stack);

	if (tid == snapshot->request.tid && snapshot->has_script)
		record.sample.script = &snapshot->script;
	return session_find_stack(session, &record, extent);
}

static stack_id push_text(struct session *session, stack_id stack, const char *text)
{
	struct profile *profile = session_profile(session);

	return profile_push(profile, stack, profile_synthetic_frame(profile, text));
}

/* Must be the same function that the symbolizer assigns to a frame of a CPU
 * sample. */
static stack_id push_kernel_function(struct session *session, stack_id stack, const char *name,
				     size_t len)
{
	struct profile *profile = session_profile(session);
	struct strtab *strings = profile_strings(profile);
	CLEANUP(free_ptr) char *text = xstrndup(name, len);
	CLEANUP(free_ptr) char *readable = demangle(text);
	struct profile_function function = {
		.name = strtab_add(strings, readable ? readable : text),
		.system_name = strtab_add(strings, text),
	};
	struct profile_line line = {.function = profile_function(profile, &function)};

	return profile_push(profile, stack,
			    profile_named_frame(profile, session_kernel(session), 0, &line, 1));
}

/* functions has one line per function, leaf first. */
static stack_id wait_stacks_push_kernel(struct session *session, stack_id stack,
					const char *functions)
{
	const char *end = functions + strlen(functions);

	while (end > functions) {
		const char *begin = end - (end[-1] == '\n'), *last = begin;

		while (begin > functions && begin[-1] != '\n')
			begin--;
		if (begin < last)
			stack = push_kernel_function(session, stack, begin, (size_t)(last - begin));
		end = begin;
	}
	return stack;
}

/* Returns the native function that the holder is in: the first one from the leaf
 * that is in another module than the leaf. */
static frame_id holders_frame(struct session *session, const struct thread_snapshot *snapshot)
{
	const struct lock_holder *holder = &snapshot->holder;
	struct profile *profile = session_profile(session);
	struct stack_extent extent;
	stack_id stack = find_stack(session, snapshot, holder->sp, holder->pc,
				    bytes_of(holder->stack, holder->stack_len), holder->tid,
				    &extent);
	const struct profile_stacks stacks = profile_stacks(profile);
	frame_id leaf = stacks.items[stack].frame;
	uint32_t module = profile_get_frame(profile, leaf).module;

	for (; stack != STACK_EMPTY; stack = stacks.items[stack].parent) {
		frame_id frame = stacks.items[stack].frame;
		uint32_t other = profile_get_frame(profile, frame).module;

		if (other != module)
			return other == PROFILE_SYNTHETIC ? leaf : frame;
	}
	return leaf;
}

static stack_id push_holder(struct session *session, stack_id stack,
			    const struct thread_snapshot *snapshot, bool knows_holder)
{
	static const char *const kinds[] = {
		[LOCK_MUTEX] = "[mutex held by ",
		[LOCK_RWLOCK] = "[rwlock held by ",
		[LOCK_JOIN] = "[end of ",
	};
	const struct lock_holder *holder = &snapshot->holder;
	struct profile *profile = session_profile(session);
	CLEANUP(free_ptr) char *before = xasprintf("%s%s", kinds[holder->kind], holder->name);
	CLEANUP(free_ptr) char *text = xasprintf("%s]", before);

	if (holder->kind == LOCK_JOIN || !knows_holder || !holder->stack_len)
		return push_text(session, stack, text);
	return profile_push(profile, stack,
			    profile_quoting_frame(profile, before, " in ",
						  holders_frame(session, snapshot), "]"));
}

/* The interpreter's own frames are named like their file. */
static stack_id push_gil(struct session *session, struct scripts *scripts, stack_id stack,
			 const struct thread_snapshot *snapshot)
{
	uint32_t code = snapshot->has_script ? snapshot->script.holders_code : SCRIPT_NO_CODE;
	struct script_place place = scripts_place(scripts, code, -1);
	bool is_function = strcmp(place.name, place.file) != 0;
	CLEANUP(free_ptr)
	char *text = xasprintf("[GIL held by %s%s%s]", snapshot->holder.name,
			       is_function ? " in " : "", is_function ? place.name : "");

	return push_text(session, stack, text);
}

/* If a lock does not record its holder but is a variable with a symbol, the
 * leaf contains the symbol: "[futex LOCK]". */
static stack_id push_reason(struct session *session, stack_id stack,
			    const struct thread_snapshot *snapshot)
{
	const char *reason = *snapshot->reason ? snapshot->reason : "[waiting]";
	CLEANUP(free_ptr) char *before = xstrndup(reason, strlen(reason) - 1);
	frame_id variable;

	if (!snapshot->futex ||
	    !session_data_frame(session, snapshot->request.pid, snapshot->futex, &variable))
		return push_text(session, stack, reason);
	return profile_push(
		session_profile(session), stack,
		profile_quoting_frame(session_profile(session), before, " ", variable, "]"));
}

/* Whether a snapshot with a larger copy could contain more of the stack. */
static bool is_cut(const struct thread_snapshot *snapshot)
{
	uint32_t asked = snapshot->request.stack_bytes;

	return snapshot->stack_len == (asked ? asked : THREAD_SNAPSHOT_STACK_BYTES) &&
	       snapshot->stack_len < THREAD_SNAPSHOT_STACK_BYTES_MAX;
}

struct wait_stack wait_stack_of(struct session *session, struct scripts *scripts,
				const struct thread_snapshot *snapshot, bool knows_holder)
{
	struct stack_extent extent = {0};
	struct wait_stack ret = {.stack = STACK_EMPTY};

	if (snapshot->stack_len)
		ret.stack = find_stack(session, snapshot, snapshot->sp, snapshot->pc,
				       bytes_of(snapshot->stack, snapshot->stack_len),
				       snapshot->request.tid, &extent);
	if (extent.is_deep && !extent.is_whole && is_cut(snapshot))
		ret.lacks_bytes = (uint32_t)snapshot->stack_len * 8;
	ret.lacks_script = extent.lacks_script;
	ret.needs_script = extent.needs_script && !snapshot->tried_script;
	ret.stack = wait_stacks_push_kernel(session, ret.stack, snapshot->kernel_stack);
	if (snapshot->holder.kind == LOCK_GIL)
		ret.stack = push_gil(session, scripts, ret.stack, snapshot);
	else if (snapshot->holder.kind != LOCK_UNKNOWN)
		ret.stack = push_holder(session, ret.stack, snapshot, knows_holder);
	else
		ret.stack = push_reason(session, ret.stack, snapshot);
	return ret;
}

stack_id wait_stack_of_reason(struct session *session, const char *reason)
{
	return push_text(session, STACK_EMPTY, *reason ? reason : "[waiting]");
}

stack_id wait_stack_of_sample(struct session *session, stack_id stack)
{
	return push_text(session, stack, "[waiting]");
}

stack_id wait_stack_wanting_cpu(struct session *session, stack_id stack, bool has_reason)
{
	if (has_reason)
		stack = profile_stacks(session_profile(session)).items[stack].parent;
	return push_text(session, stack, REASON_RUNNABLE);
}

stack_id wait_stack_of_waker(struct session *session, const struct record *waker, const char *name)
{
	struct stack_extent extent;
	bool is_full = profile_stacks(session_profile(session)).count > STACKS_MAX;
	stack_id stack = is_full ? STACK_EMPTY : session_find_stack(session, waker, &extent);
	CLEANUP(free_ptr)
	char *text = xasprintf("[woken by %s]", !name ? "interrupt" : is_full ? "others" : name);

	return push_text(session, stack, text);
}

stack_id wait_stack_woken(struct session *session, stack_id wait, stack_id waker)
{
	struct profile *profile = session_profile(session);
	bool is_full = profile_stacks(profile).count > STACKS_MAX;

	while (waker != STACK_EMPTY) {
		struct profile_stack stack = profile_stacks(profile).items[waker];

		wait = profile_push(profile, wait, stack.frame);
		waker = is_full ? STACK_EMPTY : stack.parent;
	}
	return wait;
}
