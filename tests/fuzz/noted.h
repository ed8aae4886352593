/* Notes rules and calls. */
#ifndef PROF_TESTS_FUZZ_NOTED_H
#define PROF_TESTS_FUZZ_NOTED_H

#include "dwarf/inline_chain.h"
#include "replay.h"
#include "unwind/rules.h"

static inline void note_value(const struct cfi_value *value)
{
	bool is_expression = value->how == CFI_EXPRESSION || value->how == CFI_EXPRESSION_AT;

	note_number("rules", value->how | (uint64_t)value->reg << 8);
	if (is_expression)
		note("rules", value->expression, value->expression_bytes);
	else
		note_number("rules", (uint64_t)value->offset);
}

static inline void note_rule(const struct arch *arch, const struct cfi_rule *rule)
{
	struct rule packed = rule_pack(arch, rule);

	note_number("rules", rule->start);
	note_number("rules", rule->end + rule->signal_frame);
	note_value(&rule->row.cfa);
	for (unsigned i = 0; i < arch->register_count; i++)
		note_value(&rule->row.regs[i]);
	note("packed", &packed, sizeof(packed));
}

static inline void note_call(const struct call *call)
{
	note_text("names", call->name);
	note_text("names", call->plain_name);
	note_text("files", call->file);
	note_text("files", call->decl_file);
	note_number("lines", (uint64_t)call->line << 32 | call->start_line);
}

#endif
