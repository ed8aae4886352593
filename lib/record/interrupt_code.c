#include "record/interrupt_code.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdlib.h>

/* The beginnings of names: of x86-64 now and before Linux 5.8, and of arm64. */
static const char *const entries[] = {
	"asm_sysvec_",	    "asm_common_interrupt", "asm_spurious_interrupt",
	"common_interrupt", "apic_timer_inter",	    "ret_from_intr",
	"el0t_64_irq",	    "el1h_64_irq",	    "el0_irq",
	"el1_irq",
};

struct range {
	uint64_t start, end;
};

struct interrupt_code {
	struct range *items;
	size_t count, room;
};

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (text_begins(name, entries[i]))
			return true;
	return false;
}

/* "ffffffff81000c80 T asm_sysvec_apic_timer_interrupt" */
static bool parse(const char *line, uint64_t *address, bool *is_interrupt)
{
	if (!text_hex(&line, address) || line[0] != ' ' || !line[1] || line[2] != ' ')
		return false;
	*is_interrupt = (line[1] | 0x20) == 't' && is_entry(line + 3);
	return true;
}

/* A symbol ends where the next one begins. */
static void add_symbol(struct interrupt_code *code, uint64_t address, bool is_interrupt)
{
	struct range *last = code->count ? &code->items[code->count - 1] : NULL;

	if (last && !last->end && address > last->start)
		last->end = address;
	if (!is_interrupt || !address || (last && last->start == address))
		return;
	GROW(code->items, code->count, code->room);
	code->items[code->count++] = (struct range){.start = address};
}

struct interrupt_code *interrupt_code_read(FILE *kallsyms)
{
	struct interrupt_code *code = xcalloc(1, sizeof(*code));
	char line[512];

	while (kallsyms && fgets(line, sizeof(line), kallsyms)) {
		uint64_t address;
		bool is_interrupt;

		if (parse(line, &address, &is_interrupt))
			add_symbol(code, address, is_interrupt);
	}
	return code;
}

void interrupt_code_free(struct interrupt_code *code)
{
	if (!code)
		return;
	free(code->items);
	free(code);
}

/* A return address may be the end of its function. */
static bool holds(const struct interrupt_code *code, uint64_t pc)
{
	for (size_t i = 0; i < code->count; i++)
		if (pc > code->items[i].start && pc <= code->items[i].end)
			return true;
	return false;
}

bool interrupt_code_cut(const struct interrupt_code *code, struct bytes *chain)
{
	struct bytes rest = *chain;

	while (bytes_left(&rest)) {
		if (!holds(code, bytes_u64(&rest)))
			continue;
		chain->end = rest.at;
		return true;
	}
	return false;
}
