/* Steps from Java frames with each kind of rule, on synthetic stacks. The test
 * provides the rules. */
#include "unwind/step_java.h"

#include "unit_test.h"

#include <string.h>

enum { PID = 7, WORDS = 80, RAX = 0, RDX = 1, RCX = 2, RBP = 6, RSP = 7, R13 = 13 };

#define CODE UINT64_C(0x7f0000010000)
#define PC (CODE + 8)
#define RA (CODE + 0x100)
#define RB (CODE + 0x200)
#define NO (CODE + 0x900) /* there is no blob */
#define STACK UINT64_C(0x7ffd00000000)
#define S(word) (STACK + (uint64_t)(word)*8)
#define COOKIE UINT64_MAX

struct step {
	enum java_rule_kind kind;
	uint32_t frame_bytes;
	uint64_t rbp, r13, rax; /* 0 if unknown */
	uint64_t words[8];	/* from sp on; further words are 0 */
	/* of the caller; fp is 0 if unknown, sp is 0 if the walk stops */
	uint64_t sp, pc, fp;
	enum unwind_stop stop; /* the reason why the walk stops */
	unsigned far_at;       /* another word of the stack, and its value */
	uint64_t far;
};

static const struct step *current;

/* Replaces jvm_rule() of jvms.c. */
bool jvm_rule(struct jvm *jvm, const struct jvm_pc *at, struct java_rule *ret)
{
	assert_null(jvm);
	assert_int_equal(bytes_left(&at->stack), WORDS * 8);
	assert_int_equal(at->is_return_address, at->pc != PC);
	*ret = (struct java_rule){.kind = (uint8_t)current->kind,
				  .frame_bytes = current->frame_bytes,
				  .ra = current->rax ? RDX : JAVA_ON_STACK,
				  .sp = RCX};
	return at->pc < NO;
}

static void check(struct address_spaces *spaces, const struct step *step)
{
	uint64_t words[WORDS] = {0};
	struct walk walk = {
		.spaces = spaces,
		.arch = &arch_x86_64,
		.pid = PID,
		.time_ns = 1,
		.stack_start = STACK,
		.stack_bytes = sizeof(words),
		.stack = (const unsigned char *)words,
		.pc_mask = UINT64_MAX,
		.regs = {.pc = PC},
	};
	bool knows_fp = step->fp || step->kind == JAVA_BARRIER, passed;

	memcpy(words, step->words, sizeof(step->words));
	words[step->far_at] = step->far_at ? step->far : words[0];
	regs_set(&walk.regs, RSP, STACK);
	if (step->rbp)
		regs_set(&walk.regs, RBP, step->rbp);
	if (step->r13)
		regs_set(&walk.regs, R13, step->r13);
	if (step->rax)
		regs_set(&walk.regs, RAX, step->rax);
	regs_set(&walk.regs, RDX, RA);
	regs_set(&walk.regs, RCX, S(5));
	current = step;
	passed = step_java(&walk, NULL);
	if (passed != (step->sp != 0) || (!passed && walk.stop != step->stop))
		fail_msg("kind %d: passed %d, stop %d", step->kind, passed, walk.stop);
	if (!passed)
		return;
	assert_int_equal(walk.regs.values[RSP], step->sp);
	assert_int_equal(walk.regs.pc, step->pc);
	assert_int_equal(walk.regs.known, reg_bit(RSP) | (knows_fp ? reg_bit(RBP) : 0));
	if (knows_fp)
		assert_int_equal(walk.regs.values[RBP], step->fp);
	assert_int_equal(walk.was_not_called, step->kind == JAVA_BARRIER);
	assert_true(walk.is_return_address);
}

static void check_all(const struct step *steps, size_t count)
{
	CLEANUP(address_spaces_cleanup)
	struct address_spaces *spaces = address_spaces_new_recorded(&(struct recorded_files){0});

	address_spaces_map(
		spaces, PID, 0,
		&(struct mapping){.start = CODE, .end = CODE + 0x1000, .path = "//anon"});
	for (size_t i = 0; i < count; i++)
		check(spaces, &steps[i]);
}
#define CHECK_ALL(steps) check_all(steps, sizeof(steps) / sizeof(*(steps)))

#define TO(...) .words = {__VA_ARGS__}
#define IS(at, ra, rbp) .sp = (at), .pc = (ra), .fp = (rbp)
#define LOST .stop = UNWIND_LOST
#define TRUNCATED .stop = UNWIND_TRUNCATED

TEST(a_frame_of_known_size_is_stepped_over)
{
	static const struct step steps[] = {
		{JAVA_SIZED, 32, .rbp = 5, TO(0, 0, 77, RA), IS(S(4), RA, 77)},
		{JAVA_SIZED, 32, TO(0, 0, 77, RA), IS(S(4), RA, 77)},
		{JAVA_SIZED, 32, TO(0, 0, 77, NO), LOST},
		{JAVA_SIZED, 32, TO(0, 0, 77, 5), LOST},
		{JAVA_SIZED, WORDS * 8 + 8, TO(0), TRUNCATED},
		{JAVA_UNSAVED, 32, .rbp = 5, TO(0, 0, 77, RA), IS(S(4), RA, 5)},
		{JAVA_UNSAVED, 32, TO(0, 0, 77, RA), IS(S(4), RA, 0)},
		{JAVA_TOP, .rbp = 5, TO(RA, RB), IS(S(1), RA, 5)},
		{JAVA_TOP, TO(RA, RB), IS(S(1), RA, 0)},
		{JAVA_TOP, TO(NO, RB), LOST},
		{JAVA_PUSHED, .rbp = 5, TO(77, RA), IS(S(2), RA, 77)},
		{JAVA_PUSHED, TO(77, NO), LOST},
		{JAVA_UNKNOWN, TO(RA, RA, RA), LOST},
	};

	CHECK_ALL(steps);
}

TEST(a_frame_pointer_leads_to_its_record)
{
	static const struct step steps[] = {
		{JAVA_FP, .rbp = S(2), TO(0, 0, 77, RA), IS(S(4), RA, 77)},
		{JAVA_FP, .rbp = S(0), TO(77, RA), IS(S(2), RA, 77)},
		{JAVA_FP, .rbp = S(2), TO(0, 0, 77, COOKIE, RA), IS(S(5), RA, 77)},
		{JAVA_FP, .rbp = S(2), TO(0, 0, 77, NO), LOST},
		{JAVA_FP, TO(77, RA), LOST},
		{JAVA_FP, .rbp = STACK - 8, TO(RA, RA), LOST},
		{JAVA_FP, .rbp = S(2) + 4, TO(0, 0, 77, RA), LOST},
		{JAVA_FP, .rbp = S(WORDS), TO(0), TRUNCATED},
		{JAVA_FP, .rbp = S(WORDS - 1), TO(0), TRUNCATED},
	};

	CHECK_ALL(steps);
}

TEST(of_two_ways_the_one_that_leads_to_code_is_taken)
{
	static const struct step steps[] = {
		{JAVA_FP_OR_TOP, .rbp = S(2), TO(RB, 0, 77, RA), IS(S(4), RA, 77)},
		{JAVA_FP_OR_TOP, .rbp = S(2), TO(RB, 0, 77, NO), IS(S(1), RB, S(2))},
		{JAVA_FP_OR_TOP, .rbp = 5, TO(RB, 0, 77, RA), IS(S(1), RB, 5)},
		{JAVA_FP_OR_SIZED, 32, .rbp = S(2), TO(0, 0, 77, RA), IS(S(4), RA, 77)},
		{JAVA_FP_OR_SIZED, 32, .rbp = S(3), TO(0, 0, 88, RB, RA), IS(S(4), RB, 88)},
		{JAVA_FP_OR_SIZED, 32, .rbp = S(1), TO(0, 66, RA, RB), IS(S(3), RA, 66)},
		{JAVA_FP_OR_SIZED, 32, .rbp = 5, TO(RA, 0, 0, NO), IS(S(1), RA, 5)},
		{JAVA_SIZED_OR_FP, 32, .rbp = S(4), TO(0, 0, 77, RA, 88, RB), IS(S(4), RA, 77)},
		{JAVA_SIZED_OR_FP, 32, .rbp = S(4), TO(0, 0, 77, NO, 88, RB), IS(S(6), RB, 88)},
		{JAVA_SIZED_OR_FP, 32, .rbp = S(5), TO(0, 0, 77, NO, 0, 88, RB), LOST},
	};

	CHECK_ALL(steps);
}

TEST(the_interpreter_knows_the_stack_pointer_of_its_caller)
{
	enum { LOCALS = 65536 }; /* words */
	static const struct step steps[] = {
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(8), 77, RA), IS(S(8), RA, 77)},
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(6), 77, RA), IS(S(6), RA, 77)},
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(5), 77, RA), IS(S(6), RA, 77)},
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(4), 77, RA), LOST},
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(8) + 4, 77, RA), LOST},
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(5 + LOCALS), 77, RA),
		 IS(S(5 + LOCALS), RA, 77)},
		{JAVA_INTERPRETER, .rbp = S(4), TO(0, 0, 0, S(6 + LOCALS), 77, RA), LOST},
		{JAVA_INTERPRETER, TO(S(8), S(8), S(8), S(8), 77, RA), LOST},
		{JAVA_ENTERED, .rbp = S(4), .r13 = S(9), TO(0, 0, 0, S(8), 77, RA),
		 IS(S(9), RA, 77)},
		{JAVA_ENTERED, .rbp = S(4), TO(0, 0, 0, S(8), 77, RA), LOST},
	};

	CHECK_ALL(steps);
}

TEST(on_entry_the_return_address_is_on_the_stack_or_in_rax)
{
	enum { ARGUMENTS = 1024 }; /* words */
	static const struct step steps[] = {
		{JAVA_ENTRY, .rbp = 5, TO(RA), IS(S(1), RA, 5)},
		{JAVA_ENTRY, .rax = RB, TO(RA), IS(S(1), RA, 0)},
		{JAVA_ENTRY, .rbp = 5, .rax = RB, TO(NO), IS(S(0), RB, 5)},
		{JAVA_ENTRY, TO(NO), LOST},
		{JAVA_ENTRY, .r13 = S(5), TO(RA), IS(S(5), RA, 0)},
		{JAVA_ENTRY, .r13 = S(0), TO(RA), IS(S(1), RA, 0)},
		{JAVA_ENTRY, .r13 = S(5) + 4, TO(RA), IS(S(1), RA, 0)},
		{JAVA_ENTRY, .r13 = S(1 + ARGUMENTS), TO(RA), IS(S(1 + ARGUMENTS), RA, 0)},
		{JAVA_ENTRY, .r13 = S(2 + ARGUMENTS), TO(RA), IS(S(1), RA, 0)},
		{JAVA_RETURNING, .rbp = 5, TO(RB), IS(S(5), RB, 5)},
		{JAVA_RETURNING, .rax = 1, TO(RB), IS(S(5), RA, 0)},
	};

	CHECK_ALL(steps);
}

TEST(a_barrier_was_not_called_and_code_above_it_was)
{
	static const struct step steps[] = {
		{JAVA_BARRIER, TO(RB, 0, 77, RA, 88, RB), IS(S(4), RA, 77)},
		{JAVA_BARRIER, TO(RB, RA), IS(S(2), RA, RB)},
		{JAVA_BARRIER, TO(0, NO), .far_at = 63, .far = RA, IS(S(64), RA, 0)},
		{JAVA_BARRIER, TO(0, NO), .far_at = 64, .far = RA, LOST},
	};

	CHECK_ALL(steps);
}
