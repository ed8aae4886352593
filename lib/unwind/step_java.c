#include "unwind/step_java.h"

#include "unwind/step.h"
#include "unwind/x86_64_registers.h"

/*
 * Upper bound of the arguments that an adapter or the interpreter moves for a
 * call, which are at most 255 of two words.
 */
enum { ARGUMENT_BYTES_MAX = 8 << 10 };

/* A method has up to 65,535 local variables. */
enum { LOCALS_BYTES_MAX = 65536 * 8 };

/* Padding that aligning the stack can add to a frame. */
enum { ALIGNMENT_BYTES = 16 };

/*
 * Maximum distance between a barrier and the frame below which a virtual thread
 * was copied.
 */
enum { BARRIER_WORDS = 64 };

static struct jvm_pc stack_pc(const struct walk *walk, uint64_t pc, bool is_return_address)
{
	uint64_t from = walk->regs.values[walk->arch->sp] - walk->stack_start;
	struct bytes stack = bytes_of(walk->stack, walk->stack_bytes);

	return (struct jvm_pc){
		.pc = pc,
		.is_return_address = is_return_address,
		.stack = bytes_at(stack, from),
	};
}

/*
 * Returns true if this can be a return address: it is in a code blob, or
 * follows a call in a file.
 */
static bool returns_to_code(struct walk *walk, struct jvm *jvm, uint64_t ra)
{
	const struct module *module;
	struct java_rule rule;
	struct location at;

	if (!walk_locate(walk, ra - 1, &at))
		return false;
	module = address_spaces_module(walk->spaces, at.module);
	if (module->kind == MODULE_JIT && !module->elf) {
		const struct jvm_pc pc = stack_pc(walk, ra, true);

		return jvm_rule(jvm, &pc, &rule);
	}
	return is_return_address(walk, ra);
}

static uint64_t step_java_sp_of(const struct walk *walk)
{
	return walk->regs.values[walk->arch->sp];
}

/* The known registers of a caller's frame. */
struct caller {
	uint64_t sp, ra, fp;
	bool knows_fp;
};

static bool step_java_enter(struct walk *walk, struct jvm *jvm, const struct caller *caller)
{
	if (!returns_to_code(walk, jvm, caller->ra))
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_enter(walk, caller->sp, caller->ra, true))
		return false;
	walk->regs.known = reg_bit(walk->arch->sp);
	if (caller->knows_fp)
		regs_set(&walk->regs, walk->arch->fp, caller->fp);
	return true;
}

/* Returns a caller whose frame pointer is unchanged. */
static struct caller caller_at(const struct walk *walk, uint64_t sp, uint64_t ra)
{
	return (struct caller){
		.sp = sp,
		.ra = ra,
		.fp = walk->regs.values[walk->arch->fp],
		.knows_fp = regs_know(&walk->regs, walk->arch->fp),
	};
}

static bool step_over_words(struct walk *walk, struct jvm *jvm, unsigned words)
{
	uint64_t slot = step_java_sp_of(walk) + words * sizeof(uint64_t), ra, fp = 0;
	struct caller caller;

	if (!walk_read_stack(walk, slot, STACK_REACH_BYTES, &ra) ||
	    (words && !walk_read_stack(walk, slot - 8, STACK_REACH_BYTES, &fp)))
		return false;
	caller = caller_at(walk, slot + 8, ra);
	if (words) {
		caller.fp = fp;
		caller.knows_fp = true;
	}
	return step_java_enter(walk, jvm, &caller);
}

static bool step_over_frame(struct walk *walk, struct jvm *jvm, const struct java_rule *rule)
{
	uint64_t cfa = step_java_sp_of(walk) + rule->frame_bytes;
	struct caller caller;
	uint64_t ra, fp;

	if (!walk_read_stack(walk, cfa - 8, STACK_REACH_BYTES, &ra) ||
	    !walk_read_stack(walk, cfa - 16, STACK_REACH_BYTES, &fp))
		return false;
	caller = caller_at(walk, cfa, ra);
	if (rule->kind != JAVA_UNSAVED) {
		caller.fp = fp;
		caller.knows_fp = true;
	}
	return step_java_enter(walk, jvm, &caller);
}

/*
 * Returns true if the frame pointer is above the stack pointer and the frame
 * record that it points to was copied.
 */
static bool read_record(struct walk *walk, struct caller *ret)
{
	uint64_t fp = walk->regs.values[walk->arch->fp];

	if (!regs_know(&walk->regs, walk->arch->fp) || fp < step_java_sp_of(walk) || fp % 8 != 0)
		return walk_stop(walk, UNWIND_LOST);
	*ret = (struct caller){.sp = fp + 16, .knows_fp = true};
	return walk_read_stack(walk, fp, STACK_REACH_BYTES, &ret->fp) &&
	       walk_read_stack(walk, fp + 8, STACK_REACH_BYTES, &ret->ra);
}

/*
 * Pushed by the routine that methods call when they are entered (nmethod entry
 * barrier). It is above the routine's frame, in case the routine has to jump
 * elsewhere.
 */
static const uint64_t cookie = UINT64_MAX;

static bool read_stub_record(struct walk *walk, struct caller *ret)
{
	if (!read_record(walk, ret))
		return false;
	if (ret->ra != cookie)
		return true;
	ret->sp += 8;
	return walk_read_stack(walk, ret->sp - 8, STACK_REACH_BYTES, &ret->ra);
}

static bool step_by_record(struct walk *walk, struct jvm *jvm)
{
	struct caller caller;

	return read_stub_record(walk, &caller) && step_java_enter(walk, jvm, &caller);
}

/*
 * Returns true if this can be the caller's stack pointer: at most the size of
 * the arguments above the callee's frame.
 */
static bool is_sender(uint64_t sender, uint64_t above)
{
	return sender >= above && sender - above <= ARGUMENT_BYTES_MAX && sender % 8 == 0;
}

static bool step_from_interpreter(struct walk *walk, struct jvm *jvm, enum java_rule_kind kind)
{
	uint64_t sender = walk->regs.values[R13];
	struct caller caller;

	if (!read_record(walk, &caller))
		return false;
	if (kind == JAVA_INTERPRETER &&
	    !walk_read_stack(walk, caller.sp - 24, STACK_REACH_BYTES, &sender))
		return false;
	/*
	 * Locals beyond the arguments are between the caller's stack and this
	 * frame. Some callers without arguments count the return address as
	 * theirs.
	 */
	if (sender + 8 < caller.sp || sender % 8 != 0 || sender - caller.sp + 8 > LOCALS_BYTES_MAX)
		return walk_stop(walk, UNWIND_LOST);
	if (sender > caller.sp)
		caller.sp = sender;
	return step_java_enter(walk, jvm, &caller);
}

/*
 * Steps while arguments are being moved. The return address is on the stack or
 * temporarily in rax.
 */
static bool step_from_entry(struct walk *walk, struct jvm *jvm)
{
	uint64_t sp = step_java_sp_of(walk), sender = walk->regs.values[R13], ra;
	struct caller caller;

	if (!walk_read_stack(walk, sp, STACK_REACH_BYTES, &ra))
		return false;
	caller = caller_at(walk, sp + 8, ra);
	if (!returns_to_code(walk, jvm, ra) && regs_know(&walk->regs, RAX))
		caller = caller_at(walk, sp, walk->regs.values[RAX]);
	if (regs_know(&walk->regs, R13) && is_sender(sender, caller.sp))
		caller.sp = sender;
	return step_java_enter(walk, jvm, &caller);
}

static bool step_from_return(struct walk *walk, struct jvm *jvm, const struct java_rule *rule)
{
	const struct regs *regs = &walk->regs;
	uint64_t ra = rule->ra == JAVA_ON_STACK ? 0 : regs->values[rule->ra];
	struct caller caller = caller_at(walk, regs->values[rule->sp], ra);

	if (rule->ra == JAVA_ON_STACK &&
	    !walk_read_stack(walk, step_java_sp_of(walk), STACK_REACH_BYTES, &caller.ra))
		return false;
	return step_java_enter(walk, jvm, &caller);
}

static bool step_over_barrier(struct walk *walk, struct jvm *jvm)
{
	uint64_t slot = step_java_sp_of(walk), ra;

	walk->was_not_called = true;
	for (unsigned i = 0; i < BARRIER_WORDS; i++, slot += 8) {
		struct caller caller = {.sp = slot + 8, .knows_fp = true};

		if (!walk_read_stack(walk, slot, STACK_REACH_BYTES, &ra))
			return false;
		caller.ra = ra;
		if (i && returns_to_code(walk, jvm, ra))
			return walk_read_stack(walk, slot - 8, STACK_REACH_BYTES, &caller.fp) &&
			       step_java_enter(walk, jvm, &caller);
	}
	return walk_stop(walk, UNWIND_LOST);
}

/*
 * Uses the frame pointer if it leads to code. If the frame size is known, the
 * frame record must be within it.
 */
static bool record_leads_to_code(struct walk *walk, struct jvm *jvm, uint32_t frame_bytes)
{
	struct caller caller;

	return read_stub_record(walk, &caller) &&
	       (!frame_bytes || caller.sp - step_java_sp_of(walk) <= frame_bytes) &&
	       returns_to_code(walk, jvm, caller.ra);
}

bool step_java(struct walk *walk, struct jvm *jvm)
{
	const struct jvm_pc pc = stack_pc(walk, walk->regs.pc, walk->is_return_address);
	struct java_rule rule;

	if (!jvm_rule(jvm, &pc, &rule))
		return walk_stop(walk, UNWIND_LOST);
	switch ((enum java_rule_kind)rule.kind) {
	case JAVA_SIZED:
	case JAVA_UNSAVED:
		return step_over_frame(walk, jvm, &rule);
	case JAVA_TOP:
		return step_over_words(walk, jvm, 0);
	case JAVA_PUSHED:
		return step_over_words(walk, jvm, 1);
	case JAVA_FP:
		return step_by_record(walk, jvm);
	case JAVA_FP_OR_TOP:
		if (record_leads_to_code(walk, jvm, 0))
			return step_by_record(walk, jvm);
		return step_over_words(walk, jvm, 0);
	case JAVA_FP_OR_SIZED:
		if (record_leads_to_code(walk, jvm, rule.frame_bytes))
			return step_by_record(walk, jvm);
		return step_over_frame(walk, jvm, &rule) || step_over_words(walk, jvm, 0);
	case JAVA_SIZED_OR_FP:
		return step_over_frame(walk, jvm, &rule) ||
		       (record_leads_to_code(walk, jvm, rule.frame_bytes + ALIGNMENT_BYTES) &&
			step_by_record(walk, jvm));
	case JAVA_INTERPRETER:
	case JAVA_ENTERED:
		return step_from_interpreter(walk, jvm, rule.kind);
	case JAVA_ENTRY:
		return step_from_entry(walk, jvm);
	case JAVA_RETURNING:
		return step_from_return(walk, jvm, &rule);
	case JAVA_BARRIER:
		return step_over_barrier(walk, jvm);
	case JAVA_UNKNOWN:
		break;
	}
	return walk_stop(walk, UNWIND_LOST);
}
