#include "proc/jit_list.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "elf/classes.h"
#include "elf/dynamic_symbols.h"
#include "proc/memory.h"

#include <stdlib.h>

static const char symbol_name[] = "__jit_debug_descriptor";

/* struct jit_descriptor of the interface */
struct descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

enum { DESCRIPTOR_VERSION = 1 };

/*
 * The limit of a symbol table: 700,000 symbols. A library with all of LLVM has
 * 175,000.
 */
enum { SYMBOLS_BYTES_MAX = 16 << 20 };

/* struct jit_code_entry of the interface */
struct jit_list_node {
	uint64_t next, previous;
	struct jit_list_entry object;
};

/* --- The symbol ------------------------------------------------------------------------------ */

struct jit_list_search {
	struct timed_call call;
	struct elf_file *elf;
	uint64_t vaddr, steps;
};

static bool jit_list_is_named(struct bytes strings, uint32_t name)
{
	struct bytes at = bytes_at(strings, name);

	return bytes_left(&at) >= sizeof(symbol_name) &&
	       memcmp(at.at, symbol_name, sizeof(symbol_name)) == 0;
}

static void search_table(struct jit_list_search *search, struct bytes symbols, struct bytes strings)
{
	Elf64_Sym symbol;

	if (bytes_left(&symbols) > SYMBOLS_BYTES_MAX)
		return;
	for (; !search->vaddr && elf_take_symbol(&symbols, false, &symbol); search->steps++)
		if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
		    jit_list_is_named(strings, symbol.st_name))
			search->vaddr = symbol.st_value;
}

/*
 * The variable is in .dynsym or, in a library with hidden symbols, in .symtab.
 */
static void run_search(struct timed_call *call)
{
	struct jit_list_search *search = (struct jit_list_search *)call;
	const struct elf_dynamic_symbols dynamic = elf_dynamic_symbols(search->elf);

	search_table(search, dynamic.symbols, dynamic.strings);
	if (!search->vaddr)
		search_table(search, elf_file_section(search->elf, ".symtab").data,
			     elf_file_section(search->elf, ".strtab").data);
}

static void discard_search(struct timed_call *call)
{
	struct jit_list_search *search = (struct jit_list_search *)call;

	elf_file_free(search->elf);
	free(search);
}

uint64_t jit_list_find(struct timed_caller *caller, uint64_t place, const struct elf_file *elf,
		       uint64_t *steps)
{
	struct jit_list_search *search;
	uint64_t vaddr;

	if (elf_file_is_32(elf))
		return 0;
	search = xcalloc(1, sizeof(*search));
	search->call =
		(struct timed_call){.run = run_search, .discard = discard_search, .place = place};
	search->elf = elf_file_share(elf);
	/* A switch to another thread is slower than the search. */
	if (!elf_file_may_stall(elf))
		run_search(&search->call);
	else if (!timed_caller_run(caller, &search->call))
		return 0;
	vaddr = search->vaddr;
	*steps += search->steps;
	discard_search(&search->call);
	return vaddr;
}

/* --- The list -------------------------------------------------------------------------------- */

struct jit_list_reading {
	struct timed_call call;
	pid_t pid;
	uint64_t descriptor;
	struct jit_list_head known;
	struct jit_list list;
	size_t room;
	bool succeeded;
};

static bool jit_list_read_entry(const struct jit_list_reading *reading, uint64_t address,
				struct jit_list_node *ret)
{
	return memory_read(reading->pid, address, ret, sizeof(*ret)) == sizeof(*ret);
}

static bool jit_list_read_head(struct jit_list_reading *reading)
{
	struct jit_list_head *head = &reading->list.head;
	struct descriptor descriptor;
	struct jit_list_node newest;

	if (memory_read(reading->pid, reading->descriptor, &descriptor, sizeof(descriptor)) !=
		    sizeof(descriptor) ||
	    descriptor.version != DESCRIPTOR_VERSION)
		return false;
	head->relevant = descriptor.relevant;
	head->first = descriptor.first;
	if (head->first && jit_list_read_entry(reading, head->first, &newest))
		head->newest = newest.object;
	return true;
}

static bool jit_list_is_same(const struct jit_list_head *a, const struct jit_list_head *b)
{
	return a->relevant == b->relevant && a->first == b->first &&
	       a->newest.address == b->newest.address &&
	       a->newest.size_bytes == b->newest.size_bytes;
}

static void jit_list_read_entries(struct jit_list_reading *reading)
{
	struct jit_list *list = &reading->list;
	uint64_t at = list->head.first;
	struct jit_list_node entry;

	while (at && list->count < JIT_LIST_MAX && jit_list_read_entry(reading, at, &entry)) {
		GROW(list->entries, list->count, reading->room);
		list->entries[list->count++] = entry.object;
		at = entry.next == list->head.first ? 0 : entry.next;
	}
}

static void jit_list_run_reading(struct timed_call *call)
{
	struct jit_list_reading *reading = (struct jit_list_reading *)call;

	reading->succeeded = jit_list_read_head(reading);
	if (!reading->succeeded)
		return;
	reading->list.is_same = jit_list_is_same(&reading->list.head, &reading->known);
	if (!reading->list.is_same)
		jit_list_read_entries(reading);
}

static void discard_reading(struct timed_call *call)
{
	struct jit_list_reading *reading = (struct jit_list_reading *)call;

	jit_list_deinit(&reading->list);
	free(reading);
}

bool jit_list_read(struct timed_caller *caller, uint64_t place, pid_t pid, uint64_t descriptor,
		   const struct jit_list_head *known, struct jit_list *ret)
{
	struct jit_list_reading *reading = xcalloc(1, sizeof(*reading));
	bool succeeded;

	reading->call = (struct timed_call){
		.run = jit_list_run_reading, .discard = discard_reading, .place = place};
	reading->pid = pid;
	reading->descriptor = descriptor;
	reading->known = *known;
	if (!timed_caller_run(caller, &reading->call))
		return false;
	*ret = reading->list;
	reading->list = (struct jit_list){0};
	succeeded = reading->succeeded;
	discard_reading(&reading->call);
	return succeeded;
}

void jit_list_deinit(struct jit_list *list)
{
	free(list->entries);
	*list = (struct jit_list){0};
}
