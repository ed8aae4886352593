/* Rules for Java code at instructions as HotSpot makes them. */
#include "unwind/java_rule.h"

#include "unit_test.h"

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

TEST(a_prologue_ends_with_the_frame)
{
	/* mov %eax,-0x14000(%rsp); push %rbp; sub $0x30,%rsp; nop */
	assert_int_equal(leaf(CODE_METHOD, 4, "\x89\x84\x24\x01\xc0\xfe\xff\x55\x48\x83\xec\x30"),
			 JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 11, "\x55\x48\x83\xec\x30\x90"), JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 12, "\x48\x83\xec\x30\x90"), JAVA_PUSHED);
	assert_int_equal(leaf(CODE_METHOD, 12, "\x48\x81\xec\x30\x01\x01\x01\x90"), JAVA_SIZED);
	assert_int_equal(leaf(CODE_METHOD, 16, "\x90\x90"), JAVA_SIZED);
	/* sub $0x38,%rsp; mov %rbp,0x30(%rsp) */
	assert_int_equal(leaf(CODE_METHOD, 4, "\x48\x83\xec\x38\x48\x89\x6c\x24\x30"), JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 8, "\x48\x89\x6c\x24\x30"), JAVA_UNSAVED);
	/* push %rbp; mov %rsp,%rbp; sub $0x30,%rsp */
	assert_int_equal(leaf(CODE_METHOD, 4, "\x55\x48\x8b\xec\x48\x83\xec\x30"), JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 5, "\x48\x8b\xec\x48\x83\xec\x30"), JAVA_PUSHED);
}

TEST(an_epilogue_begins_with_the_frame)
{
	/* add $0x30,%rsp; pop %rbp; cmp 0x348(%r15),%rsp; ja …; ret */
	assert_int_equal(leaf(CODE_METHOD, 99, "\x48\x83\xc4\x30\x5d\x49\x3b\xa7\x48\x03"),
			 JAVA_SIZED);
	assert_int_equal(leaf(CODE_METHOD, 99, "\x5d\x49\x3b\xa7\x48\x03"), JAVA_PUSHED);
	assert_int_equal(
		leaf(CODE_METHOD, 99, "\x49\x3b\xa7\x48\x03\x01\x01\x0f\x87\x01\x01\x01\x01\xc3"),
		JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 99, "\x0f\x87\x01\x01\x01\x01\xc3"), JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 99, "\x0f\x87\x01\x01\x01\x01\x90"), JAVA_SIZED);
	/* JDK 11: mov 0x108(%r15),%r10; test %eax,(%r10); ret */
	assert_int_equal(leaf(CODE_METHOD, 99, "\x4d\x8b\x97\x08\x01\x01\x01\x41\x85\x02\xc3"),
			 JAVA_TOP);
	assert_int_equal(leaf(CODE_METHOD, 99, "\xc3"), JAVA_TOP);
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

TEST(a_stub_keeps_a_frame_pointer_between_its_first_and_last_instructions)
{
	assert_int_equal(leaf(CODE_STUBS, 0, "\x55\x48\x8b\xec"), JAVA_TOP);
	assert_int_equal(rule_at(CODE_STUBS, START + 1, false, "\x55", "\x48\x8b\xec").kind,
			 JAVA_PUSHED);
	assert_int_equal(leaf(CODE_STUBS, 99, "\x90\x90"), JAVA_FP_OR_TOP);
	assert_int_equal(leaf(CODE_STUBS, 99, "\xc9\xc3"), JAVA_FP);
	assert_int_equal(leaf(CODE_STUBS, 99, "\xc5\xf8\x77\xc3"), JAVA_TOP);
}

TEST(a_routine_that_jumps_to_what_it_resolved_has_no_frame_any_more)
{
	/* popf; pop %rbp; jmp *%rax */
	assert_int_equal(leaf(CODE_RUNTIME, 99, "\x9d\x5d\xff\xe0"), JAVA_FP_OR_SIZED);
	assert_int_equal(leaf(CODE_RUNTIME, 99, "\x5d\xff\xe0"), JAVA_PUSHED);
	assert_int_equal(leaf(CODE_RUNTIME, 99, "\xff\xe0"), JAVA_TOP);
}

TEST(an_address_that_nothing_called_is_a_barrier)
{
	assert_int_equal(rule_at(CODE_STUBS, START + 99, true, "\xe8\x01\x01\x01\x01", "\x90").kind,
			 JAVA_FP);
	assert_int_equal(rule_at(CODE_STUBS, START + 99, true, "\xc9\xc3\x0f\x1f\x40", "\x90").kind,
			 JAVA_BARRIER);
}

TEST(without_its_instructions_a_leaf_has_no_rule)
{
	struct code_blob blob = blob_of(CODE_METHOD);

	assert_true(java_rule_needs_code(&blob, false));
	assert_int_equal(java_rule_at(&blob, &entries, START + 99, false, NULL).kind, JAVA_UNKNOWN);
}
