#include "record/interrupt_code.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/text.h"
#include "symbol/ksym.h"

#include <stdlib.h>

/* Prefixes of symbols on x86-64, also before Linux 5.8, and on arm64. */
static const char *const entries[] = {
	"asm_sysvec_",	    "asm_common_interrupt", "asm_spurious_interrupt",
	"common_interrupt", "apic_timer_inter",	    "ret_from_intr",
	"el0t_64_irq",	    "el1h_64_irq",	    "el0_irq",
	"el1_irq",
};

/* The kernel finishes the work of interrupts in these functions, which the idle
 * loop can call, too. __do_softirq() was renamed in Linux 6.10. */
static const char *const deferred[] = {"handle_softirqs", "__do_softirq",
				       "flush_smp_call_function_queue"};

enum interrupt_code_kind { OTHER, ENTRY, DEFERRED };

struct interrupt_code_range {
	uint64_t start, end;
	enum interrupt_code_kind kind;
};

struct interrupt_code {
	bool is_unread;	      /* it is that of the running kernel */
	struct ksym *symbols; /* or NULL: the ranges are used */
	struct idmap kinds;   /* known from `symbols`: pc → kind */
	struct interrupt_code_range *items;
	size_t count, room;
};

static bool interrupt_code_begins_with_any(const char *name, const char *const *beginnings,
					   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_begins(name, beginnings[i]))
			return true;
	return false;
}

static enum interrupt_code_kind interrupt_code_kind_of(const char *name)
{
	if (interrupt_code_begins_with_any(name, entries, ARRAY_SIZE(entries)))
		return ENTRY;
	return interrupt_code_begins_with_any(name, deferred, ARRAY_SIZE(deferred)) ? DEFERRED
										    : OTHER;
}

/* Parses "ffffffff81000c80 T asm_sysvec_apic_timer_interrupt". */
static bool interrupt_code_parse(const char *line, uint64_t *address,
				 enum interrupt_code_kind *kind)
{
	if (!text_hex(&line, address) || line[0] != ' ' || !line[1] || line[2] != ' ')
		return false;
	*kind = (line[1] | 0x20) == 't' ? interrupt_code_kind_of(line + 3) : OTHER;
	return true;
}

/* A symbol ends where the next one starts. */
static void add_symbol(struct interrupt_code *code, uint64_t address, enum interrupt_code_kind kind)
{
	struct interrupt_code_range *last = code->count ? &code->items[code->count - 1] : NULL;

	if (last && !last->end && address > last->start)
		last->end = address;
	if (kind == OTHER || !address || (last && last->start == address))
		return;
	GROW(code->items, code->count, code->room);
	code->items[code->count++] = (struct interrupt_code_range){.start = address, .kind = kind};
}

static void interrupt_code_read_all(struct interrupt_code *code, FILE *kallsyms)
{
	char line[512];

	while (kallsyms && fgets(line, sizeof(line), kallsyms)) {
		uint64_t address;
		enum interrupt_code_kind kind;

		if (interrupt_code_parse(line, &address, &kind))
			add_symbol(code, address, kind);
	}
}

struct interrupt_code *interrupt_code_new(void)
{
	struct interrupt_code *code = xcalloc(1, sizeof(*code));

	code->is_unread = true;
	return code;
}

struct interrupt_code *interrupt_code_read(FILE *kallsyms)
{
	struct interrupt_code *code = xcalloc(1, sizeof(*code));

	interrupt_code_read_all(code, kallsyms);
	return code;
}

static void read_this_kernel(struct interrupt_code *code)
{
	CLEANUP(close_file) FILE *kallsyms = NULL;

	code->is_unread = false;
	code->symbols = ksym_new();
	if (code->symbols)
		return;
	kallsyms = fopen("/proc/kallsyms", "re");
	interrupt_code_read_all(code, kallsyms);
}

void interrupt_code_free(struct interrupt_code *code)
{
	if (!code)
		return;
	ksym_free(code->symbols);
	idmap_deinit(&code->kinds);
	free(code->items);
	free(code);
}

static enum interrupt_code_kind kind_by_name(struct interrupt_code *code, uint64_t pc)
{
	uint32_t *kind = idmap_put(&code->kinds, pc, 0);
	CLEANUP(arena_deinit) struct arena arena = {0};
	const uint64_t address = pc - 1;
	const char *name;

	if (*kind == IDMAP_NONE)
		*kind = ksym_find(code->symbols, &address, 1, &arena, &name) && name
				? interrupt_code_kind_of(name)
				: OTHER;
	return *kind;
}

/* A return address may be the end of its function. */
static enum interrupt_code_kind kind_at(struct interrupt_code *code, uint64_t pc)
{
	if (code->is_unread)
		read_this_kernel(code);
	if (code->symbols)
		return kind_by_name(code, pc);
	for (size_t i = 0; i < code->count; i++)
		if (pc > code->items[i].start && pc <= code->items[i].end)
			return code->items[i].kind;
	return OTHER;
}

bool interrupt_code_cut(struct interrupt_code *code, struct bytes *chain)
{
	struct bytes rest = *chain;

	while (bytes_left(&rest)) {
		if (kind_at(code, bytes_u64(&rest)) != ENTRY)
			continue;
		chain->end = rest.at;
		return true;
	}
	return false;
}

bool interrupt_code_is_in(struct interrupt_code *code, struct bytes chain)
{
	while (bytes_left(&chain))
		if (kind_at(code, bytes_u64(&chain)) != OTHER)
			return true;
	return false;
}
