#include "record/wait_stacks.h"

#include "base/alloc.h"
#include "symbol/demangle.h"
#include "unwind/arch.h"
#include "waiting/reason.h"

#include <stdio.h>
#include <string.h>

/* Of a profile. Then wakers have neither frames nor names: stacks of waits times those of wakers
 * can be many, and any program can wake a thread under any name. */
enum { STACKS_MAX = 4 << 20 };

/* A look as a sample: its registers are the stack pointer and the pc. */
static struct record sample_of(const struct arch *arch, pid_t pid, pid_t tid, uint64_t time_ns,
			       const uint64_t values[2], struct bytes stack)
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

static stack_id find_stack(struct session *session, const struct look *look, uint64_t sp,
			   uint64_t pc, struct bytes stack, pid_t tid, struct stack_extent *extent)
{
	const struct arch *arch = arch_native();
	bool pc_is_last = arch->perf_pc > arch->perf_sp;
	const uint64_t values[2] = {pc_is_last ? sp : pc, pc_is_last ? pc : sp};
	struct record record = sample_of(arch, look->request.pid, tid, look->end_ns, values, stack);

	return session_find_stack(session, &record, extent);
}

static stack_id push_text(struct session *session, stack_id stack, const char *text)
{
	struct profile *profile = session_profile(session);

	return profile_push(profile, stack, profile_synthetic_frame(profile, text));
}

/* The same function as the symbolizer makes of a frame of a CPU sample. */
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

/* functions: leaf first, a line each. */
static stack_id push_kernel(struct session *session, stack_id stack, const char *functions)
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

/* The function in which the holder is: the first one from the leaf on that is in another module. */
static frame_id holders_frame(struct session *session, const struct look *look)
{
	const struct lock_holder *holder = &look->holder;
	struct profile *profile = session_profile(session);
	struct stack_extent extent;
	stack_id stack = find_stack(session, look, holder->sp, holder->pc,
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

static stack_id push_holder(struct session *session, stack_id stack, const struct look *look,
			    bool knows_holder)
{
	static const char *const kinds[] = {
		[LOCK_MUTEX] = "[mutex held by ",
		[LOCK_RWLOCK] = "[rwlock held by ",
		[LOCK_JOIN] = "[end of ",
	};
	const struct lock_holder *holder = &look->holder;
	struct profile *profile = session_profile(session);
	CLEANUP(free_ptr) char *before = xasprintf("%s%s", kinds[holder->kind], holder->name);
	CLEANUP(free_ptr) char *text = xasprintf("%s]", before);

	if (holder->kind == LOCK_JOIN || !knows_holder || !holder->stack_len)
		return push_text(session, stack, text);
	return profile_push(
		profile, stack,
		profile_quoting_frame(profile, before, " in ", holders_frame(session, look), "]"));
}

/* A lock that does not say who holds it, but is a variable with a name, has that: "[futex LOCK]".
 */
static stack_id push_reason(struct session *session, stack_id stack, const struct look *look)
{
	const char *reason = *look->reason ? look->reason : "[waiting]";
	CLEANUP(free_ptr) char *before = xstrndup(reason, strlen(reason) - 1);
	frame_id variable;

	if (!look->futex || !session_data_frame(session, look->request.pid, look->futex, &variable))
		return push_text(session, stack, reason);
	return profile_push(
		session_profile(session), stack,
		profile_quoting_frame(session_profile(session), before, " ", variable, "]"));
}

/* Whether a look that copies more would get more. */
static bool is_cut(const struct look *look)
{
	uint32_t asked = look->request.stack_bytes;

	return look->stack_len == (asked ? asked : LOOK_STACK_BYTES) &&
	       look->stack_len < LOOK_STACK_BYTES_MAX;
}

struct wait_stack wait_stack_of(struct session *session, const struct look *look, bool knows_holder)
{
	struct stack_extent extent = {0};
	struct wait_stack ret = {.stack = STACK_EMPTY};

	if (look->stack_len)
		ret.stack = find_stack(session, look, look->sp, look->pc,
				       bytes_of(look->stack, look->stack_len), look->request.tid,
				       &extent);
	if (extent.is_deep && !extent.is_whole && is_cut(look))
		ret.lacks_bytes = (uint32_t)look->stack_len * 8;
	ret.stack = push_kernel(session, ret.stack, look->kernel_stack);
	if (look->holder.kind != LOCK_UNKNOWN)
		ret.stack = push_holder(session, ret.stack, look, knows_holder);
	else
		ret.stack = push_reason(session, ret.stack, look);
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
	return push_text(session, stack, REASON_WANTED_CPU);
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
