/* Rules for Java code, for instructions that HotSpot generates. */
#include "unwind/java_rule.h"

#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START = 0x10000, END = 0x12000, FRAME = 64, COMPLETE = 44 };

static const struct method_entries entries = {
	.at = {{.start = START, .end = START + 0x400, .makes_frame = START + 0x77}},
	.count = 1,
};

static struct code_blob blob_of(enum code_kind kind)
{
	return (struct code_blob){
		.start = START,
		.end = END,
		.complete = START + COMPLETE,
		.frame_bytes = FRAME,
		.kind = kind,
	};
}

static struct java_rule rule_at(enum code_kind kind, uint64_t pc, bool is_return_address,
				const char *before, const char *after)
{
	struct code_blob blob = blob_of(kind);
	struct java_code code = {0};

	memcpy(code.before + JAVA_CODE_BEFORE - strlen(before), before, strlen(before));
	memcpy(code.after, after, strlen(after));
	return java_rule_at(&blob, &entries, pc, is_return_address, &code);
}

static int leaf(enum code_kind kind, uint64_t offset, const char *after)
{
	return rule_at(kind, START + offset, false, "", after).kind;
}

/* All bytes of operands are 1. */
TEST(any_poll_comes_between_the_end_of_a_frame_and_its_return)
{
	static const char *const polls[] = {"",
					    "\x49\x3b\x67\x01",
					    "\x49\x3b\xa7\x01\x01\x01\x01",
					    "\x0f\x87\x01\x01\x01\x01",
					    "\x0f\x85\x01\x01\x01\x01",
					    "\x4d\x8b\x57\x01",
					    "\x4d\x8b\x97\x01\x01\x01\x01",
					    "\x41\x85\x02",
					    "\x85\x05\x01\x01\x01\x01",
					    "\x49\x83\x7f\x01\x01",
					    "\x49\x83\xbf\x01\x01\x01\x01\x01",
					    "\x49\x81\x7f\x01\x01\x01\x01\x01",
					    "\x49\x81\xbf\x01\x01\x01\x01\x01\x01\x01\x01",
					    "\xc5\xf8\x77"};
	static const char *const returns[] = {"\xc3", "\xc2\x08", "\xf3\xc3", "\xf3\x90"};

	for (unsigned i = 0; i < sizeof(polls) / sizeof(polls[0]); i++) {
		for (unsigned j = 0; j < 4; j++) {
			char code[32], popped[33];

			snprintf(code, sizeof(code), "%s%s", polls[i], returns[j]);
			snprintf(popped, sizeof(popped), "\x5d%s", code);
			assert_int_equal(leaf(CODE_METHOD, 99, code),
					 j < 3 ? JAVA_TOP : JAVA_SIZED);
			assert_int_equal(leaf(CODE_STUBS, 99, popped),
					 j < 3 ? JAVA_PUSHED : JAVA_FP_OR_TOP);
		}
	}
}

static const struct {
	enum code_kind kind_of_code;
	unsigned offset;
	const char *before, *after;
	enum java_rule_kind kind;
	uint8_t ra, sp;
} rules[] = {
	/* The stub of a poll: lea, mov, jmp. */
	{CODE_METHOD, 99, "", "\x4c\x8d\x15\1\1\1\1\x4d\x89\x97\1\1\1\1\xe9", JAVA_TOP, 0, 0},
	{CODE_METHOD, 99, "", "\x4d\x89\x57\1\xe9", JAVA_TOP, 0, 0},
	{CODE_METHOD, 99, "", "\x4d\x89\x57\1\xeb", JAVA_SIZED, 0, 0},
	{CODE_METHOD, 99, "", "\x4d\x89\x5f\1\xe9", JAVA_SIZED, 0, 0},
	{CODE_METHOD, 99, "", "\x4c\x8d\x15\1\1\1\1\xe9", JAVA_SIZED, 0, 0},
	/* A prologue ends with the frame: push %rbp; sub $0x30,%rsp. */
	{CODE_METHOD, 4, "", "\x89\x84\x24\x01\xc0\xfe\xff\x55\x48\x83\xec\x30", JAVA_TOP, 0, 0},
	{CODE_METHOD, 11, "", "\x55\x48\x83\xec\x30\x90", JAVA_TOP, 0, 0},
	{CODE_METHOD, 12, "", "\x48\x83\xec\x30\x90", JAVA_PUSHED, 0, 0},
	{CODE_METHOD, 12, "", "\x48\x81\xec\x30\x01\x01\x01\x90", JAVA_SIZED, 0, 0},
	{CODE_METHOD, 16, "", "\x90\x90", JAVA_SIZED, 0, 0},
	/* sub $0x38,%rsp; mov %rbp,0x30(%rsp) */
	{CODE_METHOD, 4, "", "\x48\x83\xec\x38\x48\x89\x6c\x24\x30", JAVA_TOP, 0, 0},
	{CODE_METHOD, 8, "", "\x48\x89\x6c\x24\x30", JAVA_UNSAVED, 0, 0},
	/* push %rbp; mov %rsp,%rbp; sub $0x30,%rsp */
	{CODE_METHOD, 4, "", "\x55\x48\x8b\xec\x48\x83\xec\x30", JAVA_TOP, 0, 0},
	{CODE_METHOD, 5, "", "\x48\x8b\xec\x48\x83\xec\x30", JAVA_PUSHED, 0, 0},
	/* The end of a prologue, other encodings, and instructions that are not
	 * prologues. */
	{CODE_METHOD, COMPLETE - 1, "", "\x48\x83\xec\x38", JAVA_TOP, 0, 0},
	{CODE_METHOD, COMPLETE, "", "\x48\x83\xec\x38", JAVA_SIZED, 0, 0},
	{CODE_METHOD, COMPLETE - 1, "", "\x90\x48\x83\xec\x38", JAVA_SIZED, 0, 0},
	{CODE_METHOD, 4, "", "\x48\x81\xec\x38", JAVA_TOP, 0, 0},
	{CODE_METHOD, 4, "", "\x48\x82\xec\x38", JAVA_SIZED, 0, 0},
	{CODE_METHOD, 4, "", "\x90\x48\x83\xec\x30", JAVA_PUSHED, 0, 0},
	{CODE_METHOD, 4, "", "\x55\x90\x90\x90\x48\x83\xec\x30", JAVA_PUSHED, 0, 0},
	{CODE_METHOD, 4, "", "\x55\x48\x89\xe5\x48\x83\xec\x30", JAVA_TOP, 0, 0},
	{CODE_METHOD, 8, "", "\x48\x89\xac\x24", JAVA_UNSAVED, 0, 0},
	{CODE_METHOD, 8, "", "\x48\x89\x6c\x25", JAVA_SIZED, 0, 0},
	{CODE_RUNTIME, 0, "", "\x90", JAVA_TOP, 0, 0},
	{CODE_RUNTIME, 4, "", "\x48\x83\xec\x38", JAVA_TOP, 0, 0},
	{CODE_RUNTIME, 4, "\x55", "\x48\x8b\xec", JAVA_PUSHED, 0, 0},
	{CODE_RUNTIME, 4, "\x54", "\x48\x8b\xec", JAVA_FP_OR_SIZED, 0, 0},
	{CODE_RUNTIME, COMPLETE, "", "\x48\x83\xec\x38", JAVA_FP_OR_SIZED, 0, 0},
	/* An epilogue starts with the release of the frame: add $0x30,%rsp; pop
	 * %rbp; cmp; ja; ret. */
	{CODE_METHOD, 99, "", "\x48\x83\xc4\x30\x5d\x49\x3b\xa7\x48\x03", JAVA_SIZED, 0, 0},
	{CODE_METHOD, 99, "", "\x5d\x49\x3b\xa7\x48\x03", JAVA_PUSHED, 0, 0},
	{CODE_METHOD, 99, "", "\x49\x3b\xa7\1\1\1\1\x0f\x87\1\1\1\1\xc3", JAVA_TOP, 0, 0},
	/* A routine that jumps to the code that it has resolved: popf; pop
	 * %rbp; jmp *%rax. */
	{CODE_RUNTIME, 99, "", "\x9d\x5d\xff\xe0", JAVA_FP_OR_SIZED, 0, 0},
	{CODE_RUNTIME, 99, "", "\x5d\xff\xe0", JAVA_PUSHED, 0, 0},
	{CODE_RUNTIME, 99, "", "\xff\xe0", JAVA_TOP, 0, 0},
	/* A stub has a frame pointer between its first and last instructions. */
	{CODE_STUBS, 0, "", "\x55\x48\x8b\xec", JAVA_TOP, 0, 0},
	{CODE_STUBS, 1, "\x55", "\x48\x8b\xec", JAVA_PUSHED, 0, 0},
	{CODE_STUBS, 99, "", "\x90\x90", JAVA_FP_OR_TOP, 0, 0},
	{CODE_STUBS, 99, "", "\xc9\xc3", JAVA_FP, 0, 0},
	/* Code of the interpreter: pop, mov to %rsp, jmp. */
	{CODE_INTERPRETER, 0x800, "", "\x59\x49\x8b\xe6", JAVA_RETURNING, JAVA_ON_STACK, 14},
	{CODE_INTERPRETER, 0x800, "", "\x48\x8b\xe1\xff\xe2", JAVA_RETURNING, 1, 2},
	{CODE_INTERPRETER, 0x800, "\x48\x8b\xe6", "\xff\xe7", JAVA_RETURNING, 5, 7},
	{CODE_INTERPRETER, 0x800, "", "\x42\x5d\x48\x8b\xe3", JAVA_INTERPRETER, 0, 0},
	{CODE_INTERPRETER, 0x800, "", "\x41\x50\x48\x8b\xe3", JAVA_INTERPRETER, 0, 0},
	{CODE_INTERPRETER, 0x800, "", "\x59\x4a\x8b\xe3", JAVA_INTERPRETER, 0, 0},
	{CODE_INTERPRETER, 0x800, "", "\x59\x48\x8a\xe3", JAVA_INTERPRETER, 0, 0},
	{CODE_INTERPRETER, 0x800, "", "\x59\x48\x8b\xdb", JAVA_INTERPRETER, 0, 0},
	{CODE_INTERPRETER, 0x800, "", "\x48\x8b\xe1\xff\xd2", JAVA_INTERPRETER, 0, 0},
	{CODE_INTERPRETER, 0x800, "\x90\x90", "\xff\xe2", JAVA_INTERPRETER, 0, 0},
};

TEST(the_instructions_at_a_pc_decide_its_rule)
{
	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct java_rule rule = rule_at(rules[i].kind_of_code, START + rules[i].offset,
						false, rules[i].before, rules[i].after);

		if (rule.kind != rules[i].kind || rule.ra != rules[i].ra || rule.sp != rules[i].sp)
			fail_msg("case %u: kind %d of %u, %u", i, rule.kind, rule.ra, rule.sp);
	}
}

TEST(a_caller_has_its_whole_frame)
{
	struct code_blob blob = blob_of(CODE_METHOD);
	struct java_rule rule = java_rule_at(&blob, &entries, START + 99, true, NULL);

	assert_false(java_rule_needs_code(&blob, true));
	assert_int_equal(rule.kind, JAVA_SIZED);
	assert_int_equal(rule.frame_bytes, FRAME);
	blob.kind = CODE_RUNTIME;
	assert_int_equal(java_rule_at(&blob, &entries, START + 99, true, NULL).kind,
			 JAVA_SIZED_OR_FP);
}

TEST(an_entry_of_the_interpreter_makes_its_frame)
{
	static const struct method_entries frameless = {{{START, START + 0x400, 0}}, 1};
	struct code_blob blob = blob_of(CODE_INTERPRETER);

	for (unsigned caller = 0; caller < 2; caller++) {
		assert_int_equal(
			java_rule_at(&blob, &frameless, START + 8, caller, &(struct java_code){0})
				.kind,
			caller ? JAVA_TOP : JAVA_ENTRY);
		assert_int_equal(
			java_rule_at(&blob, &entries, START + 8, caller, &(struct java_code){0})
				.kind,
			caller ? JAVA_INTERPRETER : JAVA_ENTRY);
	}
	assert_int_equal(leaf(CODE_INTERPRETER, 0x60, "\x4c\x8d\x74\xcc\xf8"), JAVA_ENTRY);
	assert_int_equal(leaf(CODE_INTERPRETER, 0x77, "\x55\x48\x8b\xec"), JAVA_ENTRY);
	assert_int_equal(leaf(CODE_INTERPRETER, 0x78, "\x48\x8b\xec"), JAVA_PUSHED);
	assert_int_equal(leaf(CODE_INTERPRETER, 0x7b, "\x41\x55"), JAVA_ENTERED);
	assert_int_equal(leaf(CODE_INTERPRETER, 0x7d, "\x68\x01"), JAVA_INTERPRETER);
	assert_int_equal(leaf(CODE_INTERPRETER, 0x800, "\x68\x01"), JAVA_INTERPRETER);
}

TEST(a_return_of_the_interpreter_ends_its_frame)
{
	/* leave; pop %r13; mov %rbx,%rsp; jmp *%r13 */
	static const char code[] = "\xc9\x41\x5d\x48\x8b\xe3\x41\xff\xe5";
	struct java_rule rule;

	assert_int_equal(leaf(CODE_INTERPRETER, 0x800, code), JAVA_INTERPRETER);
	rule = rule_at(CODE_INTERPRETER, START + 0x801, false, "\xc9", code + 1);
	assert_int_equal(rule.kind, JAVA_RETURNING);
	assert_int_equal(rule.ra, JAVA_ON_STACK);
	assert_int_equal(rule.sp, 3); /* rbx */
	rule = rule_at(CODE_INTERPRETER, START + 0x803, false, "\x41\x5d", code + 3);
	assert_int_equal(rule.kind, JAVA_RETURNING);
	assert_int_equal(rule.ra, 13);
	assert_int_equal(rule.sp, 3);
	rule = rule_at(CODE_INTERPRETER, START + 0x806, false, "\x48\x8b\xe3", code + 6);
	assert_int_equal(rule.kind, JAVA_RETURNING);
	assert_int_equal(rule.ra, 13);
	assert_int_equal(rule.sp, 7); /* rsp */
}

TEST(an_address_that_nothing_called_is_a_barrier)
{
	assert_int_equal(rule_at(CODE_STUBS, START + 99, true, "\xe8\x01\x01\x01\x01", "\x90").kind,
			 JAVA_FP);
	assert_int_equal(rule_at(CODE_STUBS, START + 99, true, "\xc9\xc3\x0f\x1f\x40", "\x90").kind,
			 JAVA_BARRIER);
}

/* By code_kind: the rule for a leaf, and the rule for a caller. */
TEST(without_its_instructions_a_leaf_has_no_rule)
{
	static const enum java_rule_kind kinds[][2] = {
		{JAVA_UNKNOWN, JAVA_SIZED},
		{JAVA_UNKNOWN, JAVA_SIZED_OR_FP},
		{JAVA_UNKNOWN, JAVA_INTERPRETER},
		{JAVA_ENTRY, JAVA_ENTRY},
		{JAVA_TOP, JAVA_TOP},
		{JAVA_UNKNOWN, JAVA_UNKNOWN},
	};

	for (unsigned kind = 0; kind < 6; kind++) {
		for (unsigned caller = 0; caller < 2; caller++) {
			struct code_blob blob = blob_of((enum code_kind)kind);

			assert_int_equal(
				java_rule_at(&blob, &entries, START + 99, caller, NULL).kind,
				kinds[kind][caller]);
			assert_int_equal(java_rule_needs_code(&blob, caller),
					 kinds[kind][caller] == JAVA_UNKNOWN);
		}
	}
}
