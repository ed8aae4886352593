#include "unwind/java_rule.h"

#include "unwind/x86_64_registers.h"
#include "unwind/x86_calls.h"

#include <string.h>

/* Converts the register numbers of instructions to DWARF numbers. */
static const uint8_t dwarf[] = {RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI,
				8,   9,	  10,  11,  12,	 13,  14,  15};

#define STARTS(at, ...)                                                                            \
	(memcmp((at), (const unsigned char[]){__VA_ARGS__},                                        \
		sizeof((const unsigned char[]){__VA_ARGS__})) == 0)

static struct java_rule rule_of(enum java_rule_kind kind)
{
	return (struct java_rule){.kind = (uint8_t)kind};
}

static struct java_rule sized(enum java_rule_kind kind, const struct code_blob *blob)
{
	return (struct java_rule){.kind = (uint8_t)kind, .frame_bytes = blob->frame_bytes};
}

static bool is_push_fp(const unsigned char *at)
{
	return at[0] == 0x55;
}

/* Recognizes `mov %rsp,%rbp`. */
static bool is_set_fp(const unsigned char *at)
{
	return STARTS(at, 0x48, 0x8b, 0xec) || STARTS(at, 0x48, 0x89, 0xe5);
}

/* Recognizes `sub $bytes,%rsp`. */
static bool is_reserve(const unsigned char *at, uint32_t *bytes)
{
	*bytes = at[3];
	if (STARTS(at, 0x48, 0x83, 0xec))
		return true;
	memcpy(bytes, at + 3, sizeof(*bytes));
	return STARTS(at, 0x48, 0x81, 0xec);
}

/* --- Compiled methods ----------------------------------------------------- */

/*
 * Returns the rule in a prologue. `sub` allocates the frame, either after `push
 * %rbp` or before a `mov` that saves rbp. Instructions before these do not use
 * the stack; instructions after them run with the complete frame.
 */
static struct java_rule prologue_rule(const struct code_blob *blob, uint64_t pc,
				      const struct java_code *code)
{
	uint64_t left = blob->complete - pc;
	bool pushes = false;

	for (unsigned i = 0; i < left && i + 8 < JAVA_CODE_AFTER; i++) {
		uint32_t reserved;

		if (!is_reserve(code->after + i, &reserved))
			continue;
		pushes = i >= 1 && is_push_fp(code->after + i - 1);
		pushes |= i >= 4 && is_push_fp(code->after + i - 4) &&
			  is_set_fp(code->after + i - 3);
		if (reserved == blob->frame_bytes - 8)
			return rule_of(JAVA_TOP);
		if (reserved == blob->frame_bytes - 16)
			return rule_of(pushes ? JAVA_TOP : JAVA_PUSHED);
	}
	/* `mov %rbp,disp(%rsp)` after a sub without a push */
	if (STARTS(code->after, 0x48, 0x89, 0x6c, 0x24) ||
	    STARTS(code->after, 0x48, 0x89, 0xac, 0x24))
		return sized(JAVA_UNSAVED, blob);
	return sized(JAVA_SIZED, blob);
}

/*
 * Returns the length of the next instruction of a safepoint poll between `pop
 * %rbp` and `ret`, or 0.
 */
static unsigned poll_length(const unsigned char *at)
{
	if (STARTS(at, 0x49, 0x3b, 0x67)) /* cmp disp8(%r15),%rsp */
		return 4;
	if (STARTS(at, 0x49, 0x3b, 0xa7)) /* cmp disp32(%r15),%rsp */
		return 7;
	if (STARTS(at, 0x0f, 0x87) || STARTS(at, 0x0f, 0x85)) /* ja, jne */
		return 6;
	if (STARTS(at, 0x4d, 0x8b, 0x57)) /* mov disp8(%r15),%r10 */
		return 4;
	if (STARTS(at, 0x4d, 0x8b, 0x97)) /* mov disp32(%r15),%r10 */
		return 7;
	if (STARTS(at, 0x41, 0x85, 0x02)) /* test %eax,(%r10) */
		return 3;
	if (STARTS(at, 0x85, 0x05)) /* test %eax,disp32(%rip) */
		return 6;
	if (STARTS(at, 0x49, 0x83, 0x7f)) /* cmp $0,disp8(%r15) */
		return 5;
	if (STARTS(at, 0x49, 0x83, 0xbf)) /* cmp $0,disp32(%r15) */
		return 8;
	if (STARTS(at, 0x49, 0x81, 0x7f)) /* cmp with a long immediate */
		return 8;
	if (STARTS(at, 0x49, 0x81, 0xbf))
		return 11;
	if (STARTS(at, 0xc5, 0xf8, 0x77)) /* vzeroupper */
		return 3;
	return 0;
}

static bool is_return(const unsigned char *at)
{
	return at[0] == 0xc3 || at[0] == 0xc2 || STARTS(at, 0xf3, 0xc3);
}

/* Returns true if the frame is already removed: only polls precede `ret`. */
static bool leads_to_return(const unsigned char *at)
{
	for (unsigned i = 0, length; i + 12 < JAVA_CODE_AFTER; i += length) {
		if (is_return(at + i))
			return true;
		length = poll_length(at + i);
		if (!length)
			return false;
	}
	return false;
}

/* Recognizes the code that a poll at a return jumps to: lea, mov, jmp. */
static bool is_poll_stub(const unsigned char *at)
{
	if (STARTS(at, 0x4c, 0x8d, 0x15)) /* lea disp32(%rip),%r10 */
		at += 7;
	if (!STARTS(at, 0x4d, 0x89, 0x97) && !STARTS(at, 0x4d, 0x89, 0x57))
		return false;
	at += at[2] == 0x97 ? 7 : 4; /* mov %r10,disp(%r15) */
	return at[0] == 0xe9;
}

static struct java_rule method_rule(const struct code_blob *blob, uint64_t pc,
				    const struct java_code *code)
{
	if (pc < blob->complete)
		return prologue_rule(blob, pc, code);
	if (leads_to_return(code->after) || is_poll_stub(code->after))
		return rule_of(JAVA_TOP);
	if (code->after[0] == 0x5d) /* pop %rbp */
		return rule_of(JAVA_PUSHED);
	return sized(JAVA_SIZED, blob);
}

/* --- The interpreter ------------------------------------------------------ */

/* Returns the length of a `pop reg` for the return address, or 0. */
static unsigned pop_length(const unsigned char *at)
{
	if ((at[0] & 0xf8) == 0x58)
		return 1;
	return at[0] == 0x41 && (at[1] & 0xf8) == 0x58 ? 2 : 0;
}

/* Recognizes `mov reg,%rsp`, which restores the stack pointer of the caller. */
static bool is_set_sp(const unsigned char *at, uint8_t *reg)
{
	if ((at[0] != 0x48 && at[0] != 0x49) || at[1] != 0x8b || (at[2] & 0xf8) != 0xe0)
		return false;
	*reg = dwarf[(at[2] & 7) + (at[0] == 0x49 ? 8 : 0)];
	return true;
}

/* Recognizes `jmp *reg`. */
static bool is_jump(const unsigned char *at, uint8_t *reg)
{
	bool is_high = at[0] == 0x41;

	if (is_high)
		at++;
	if (at[0] != 0xff || (at[1] & 0xf8) != 0xe0)
		return false;
	*reg = dwarf[(at[1] & 7) + (is_high ? 8 : 0)];
	return true;
}

/*
 * Recognizes the return sequence of a method: leave; pop REG; mov SENDER,%rsp;
 * jmp *REG. Returns false for any other code.
 */
static bool is_returning(const struct java_code *code, struct java_rule *ret)
{
	const unsigned char *at = code->after;
	unsigned popped = pop_length(at);
	uint8_t ra, sp;

	if (popped && is_set_sp(at + popped, &sp)) {
		*ret = (struct java_rule){.kind = JAVA_RETURNING, .ra = JAVA_ON_STACK, .sp = sp};
		return true;
	}
	if (is_set_sp(at, &sp) && is_jump(at + 3, &ra)) {
		*ret = (struct java_rule){.kind = JAVA_RETURNING, .ra = ra, .sp = sp};
		return true;
	}
	if (is_jump(at, &ra) && is_set_sp(code->before + JAVA_CODE_BEFORE - 3, &sp)) {
		*ret = (struct java_rule){.kind = JAVA_RETURNING, .ra = ra, .sp = RSP};
		return true;
	}
	return false;
}

static struct java_rule entry_rule(const struct method_entry *entry, uint64_t pc)
{
	uint64_t at = entry->makes_frame;

	if (!at || pc <= at)
		return rule_of(JAVA_ENTRY);
	if (pc == at + 1)
		return rule_of(JAVA_PUSHED);
	/* The next instruction pushes the caller's stack pointer. */
	return rule_of(pc == at + 4 ? JAVA_ENTERED : JAVA_INTERPRETER);
}

static struct java_rule interpreter_rule(const struct method_entries *entries, uint64_t pc,
					 bool is_return_address, const struct java_code *code)
{
	const struct method_entry *entry = method_entries_find(entries, pc);
	struct java_rule rule;

	if (entry && is_return_address)
		return rule_of(entry->makes_frame ? JAVA_INTERPRETER : JAVA_TOP);
	if (!is_return_address && code && is_returning(code, &rule))
		return rule;
	return entry ? entry_rule(entry, pc) : rule_of(JAVA_INTERPRETER);
}

/* --- Routines ------------------------------------------------------------- */

/*
 * Returns the rule for the first and last instructions of any routine. Returns
 * JAVA_UNKNOWN elsewhere.
 */
static struct java_rule edge_rule(const struct java_code *code)
{
	const unsigned char *at = code->after;

	if (leads_to_return(at) || is_push_fp(at))
		return rule_of(JAVA_TOP);
	if (is_set_fp(at) && is_push_fp(code->before + JAVA_CODE_BEFORE - 1))
		return rule_of(JAVA_PUSHED);
	if (at[0] == 0x5d && leads_to_return(at + 1))
		return rule_of(JAVA_PUSHED);
	if (at[0] == 0xc9 && leads_to_return(at + 1))
		return rule_of(JAVA_FP);
	return rule_of(JAVA_UNKNOWN);
}

static struct java_rule runtime_rule(const struct code_blob *blob, uint64_t pc,
				     const struct java_code *code)
{
	struct java_rule rule;
	uint8_t target;

	if (pc == blob->start || is_jump(code->after, &target))
		return rule_of(JAVA_TOP);
	if (code->after[0] == 0x5d) /* pop %rbp */
		return rule_of(JAVA_PUSHED);
	rule = edge_rule(code);
	if (rule.kind != JAVA_UNKNOWN)
		return rule;
	if (pc < blob->complete) {
		rule = prologue_rule(blob, pc, code);
		if (rule.kind != JAVA_SIZED)
			return rule;
	}
	return sized(JAVA_FP_OR_SIZED, blob);
}

static struct java_rule stub_rule(bool is_return_address, const struct java_code *code)
{
	struct java_rule rule;

	if (is_return_address)
		return rule_of(x86_ends_with_call(code->before) ? JAVA_FP : JAVA_BARRIER);
	rule = edge_rule(code);
	return rule.kind != JAVA_UNKNOWN ? rule : rule_of(JAVA_FP_OR_TOP);
}

bool java_rule_needs_code(const struct code_blob *blob, bool is_return_address)
{
	return blob->kind == CODE_STUBS ||
	       (!is_return_address && blob->kind != CODE_ADAPTER && blob->kind != CODE_FRAMELESS);
}

struct java_rule java_rule_at(const struct code_blob *blob, const struct method_entries *entries,
			      uint64_t pc, bool is_return_address, const struct java_code *code)
{
	if (!code && java_rule_needs_code(blob, is_return_address))
		return rule_of(JAVA_UNKNOWN);
	switch (blob->kind) {
	case CODE_METHOD:
		return is_return_address ? sized(JAVA_SIZED, blob) : method_rule(blob, pc, code);
	case CODE_RUNTIME:
		return is_return_address ? sized(JAVA_SIZED_OR_FP, blob)
					 : runtime_rule(blob, pc, code);
	case CODE_INTERPRETER:
		return interpreter_rule(entries, pc, is_return_address, code);
	case CODE_ADAPTER:
		return rule_of(JAVA_ENTRY);
	case CODE_FRAMELESS:
		return rule_of(JAVA_TOP);
	case CODE_STUBS:
		return stub_rule(is_return_address, code);
	}
	return rule_of(JAVA_UNKNOWN);
}
