/*
 * Fuzzes a module's ELF file with all of its readers: symbols, Go's table, call
 * frame information, DWARF (the file is its own supplementary file), the
 * questions for its debug file, and disassembly. The file is also the .dwo file
 * and the package of its own skeleton units. All readers look up addresses all
 * over the code.
 *
 * Inputs are real ELF files (elf_seeds). Damage is limited to single fields, so
 * that most of a damaged file is still valid.
 */
#include "base/alloc.h"
#include "dwarf/dwarf.h"
#include "elf/debugfile.h"
#include "elf/disassembly.h"
#include "noted.h"
#include "symbol/gopclntab.h"
#include "symbol/libdw.h"
#include "symbol/symtab.h"
#include "unwind/cfi.h"
#include "unwind/functions.h"
#include "unwind/rules.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef LIBDW_ALONE
#define LIBDW_ALONE false
#endif

enum { SEGMENTS_MAX = 8, ADDRESSES_OF_SEGMENT = 32, DISASSEMBLED_BYTES = 256, STEPS_MAX = 10000 };

/* libFuzzer's function. It does not exist in a replay of the corpus. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_bytes);

struct fuzzed {
	const uint8_t *data;
	size_t size;
	struct elf_file *elf;
	struct arena arena;
	uint64_t vaddrs[SEGMENTS_MAX * ADDRESSES_OF_SEGMENT]; /* in ascending order */
	size_t count;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Relocatable files have no segments. */
static void choose_in_sections(struct fuzzed *fuzzed)
{
	CLEANUP(free_ptr) struct elf_code *code = NULL;
	size_t count = elf_file_code(fuzzed->elf, &code);

	for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++)
		for (uint64_t k = 0; k < ADDRESSES_OF_SEGMENT; k++)
			fuzzed->vaddrs[fuzzed->count++] =
				code[i].start +
				(code[i].end - code[i].start) / ADDRESSES_OF_SEGMENT * k + k % 7;
}

/* Chooses addresses all over the executable segments. */
static void choose_addresses(struct fuzzed *fuzzed)
{
	unsigned count;
	const struct elf_file_segment *segments = elf_file_segments(fuzzed->elf, &count);

	for (unsigned i = 0; i < count && i < SEGMENTS_MAX; i++)
		for (uint64_t k = 0; segments[i].executable && k < ADDRESSES_OF_SEGMENT; k++)
			fuzzed->vaddrs[fuzzed->count++] =
				segments[i].vaddr +
				segments[i].file_bytes / ADDRESSES_OF_SEGMENT * k + k % 7;
	if (!count)
		choose_in_sections(fuzzed);
	qsort(fuzzed->vaddrs, fuzzed->count, sizeof(*fuzzed->vaddrs), by_value);
}

/* Reads a string to its end, so that the address sanitizer detects reads beyond
 * it. */
static void read_string(const char *str)
{
	static volatile size_t letters;

	if (str)
		letters += strlen(str);
	(void)letters;
}

static void read_chain(const struct inline_chain *chain)
{
	for (unsigned i = 0; i < chain->count; i++)
		note_call(&chain->calls[i]);
}

static void find_symbols(struct fuzzed *fuzzed)
{
	CLEANUP(elf_file_cleanup) struct elf_file *inside = debugfile_inside(fuzzed->elf);
	CLEANUP(symtab_cleanup) struct symtab *symtab = symtab_new(fuzzed->elf, inside);
	CLEANUP(gopclntab_cleanup) struct gopclntab *go = gopclntab_new(fuzzed->elf);
	struct symbol symbol;

	for (size_t i = 0; i < fuzzed->count; i++) {
		uint64_t vaddr = fuzzed->vaddrs[i];

		if (symtab_find(symtab, vaddr, &fuzzed->arena, &symbol)) {
			if (vaddr - symbol.vaddr >= symbol.size_bytes)
				abort();
			note_text("symbols", symbol.name);
			note_number("symbols", symbol.vaddr);
		}
		if (go && gopclntab_find(go, vaddr, &fuzzed->arena, &symbol)) {
			struct inline_chain chain = gopclntab_resolve(go, vaddr, &fuzzed->arena);

			read_string(symbol.name);
			read_chain(&chain);
		}
	}
}

static void find_rules(struct fuzzed *fuzzed)
{
	const struct arch *arch = elf_file_is_32(fuzzed->elf) ? &arch_i386 : &arch_x86_64;
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(fuzzed->elf, arch);
	struct cfi_rule rule;

	cfi_index(cfi, NULL);
	for (size_t i = 0; i < fuzzed->count; i++) {
		unsigned steps = STEPS_MAX;

		if (!cfi_find(cfi, fuzzed->vaddrs[i], &steps, &rule))
			continue;
		if (fuzzed->vaddrs[i] < rule.start || fuzzed->vaddrs[i] >= rule.end)
			abort();
		note_rule(arch, &rule);
	}
}

static void find_functions(struct fuzzed *fuzzed)
{
	struct functions *functions = functions_new(fuzzed->elf, NULL);
	struct function_range range;

	for (size_t i = 0; functions && i < fuzzed->count; i++)
		if (functions_find(functions, fuzzed->vaddrs[i], &range)) {
			if (fuzzed->vaddrs[i] < range.start || fuzzed->vaddrs[i] >= range.end)
				abort();
			note_number("functions", range.start);
			note_number("functions", range.end);
		}
	functions_free(functions);
}

static void resolve_all(struct fuzzed *fuzzed, const struct dwarf *dwarf)
{
	struct inline_chain chains[ARRAY_SIZE(fuzzed->vaddrs)];
	size_t end;

	for (size_t i = 0; i < fuzzed->count; i = end) {
		uint32_t unit = dwarf_unit_of(dwarf, fuzzed->vaddrs[i]);

		for (end = i;
		     end < fuzzed->count && dwarf_unit_of(dwarf, fuzzed->vaddrs[end]) == unit;)
			end++;
		if (unit == DWARF_NO_UNIT)
			continue;
		note_number("units", unit);
		note_number("units", dwarf_unit_bytes(dwarf, unit));
		note_number("units", dwarf_resolve(dwarf, unit, &fuzzed->vaddrs[i], end - i, NULL,
						   &fuzzed->arena, chains));
		for (size_t k = 0; k < end - i; k++)
			read_chain(&chains[k]);
	}
}

/* The first candidate for every question is the file itself. */
static int open_itself(void *user, const struct debugfile_question *question, unsigned attempt,
		       char **path)
{
	const struct fuzzed *fuzzed = user;
	int fd;

	if (!debugfile_question_is_valid(question))
		abort();
	fd = attempt ? -1 : memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (write(fd, fuzzed->data, fuzzed->size) != (ssize_t)fuzzed->size) {
		close(fd);
		return -1;
	}
	*path = xstrdup("fuzz");
	return fd;
}

static void check_counts(const struct dwarf *dwarf)
{
	struct dwarf_split_counts counts = dwarf_split_counts(dwarf);

	if (counts.missing > counts.units)
		abort();
	note_number("splits", counts.missing + ((uint64_t)counts.units << 32));
	note_number("splits", counts.has_changed + 2 * dwarf_has_unread(dwarf));
	note_text("splits", counts.example);
	free(counts.example);
}

static void find_inlined(struct fuzzed *fuzzed)
{
	const struct debugfile_opener opener = {.open = open_itself, .user = fuzzed};
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = dwarf_new(fuzzed->elf, fuzzed->elf);

	if (!dwarf)
		return;
	dwarf_follow_splits(dwarf, fuzzed->elf, &opener);
	resolve_all(fuzzed, dwarf);
	/* The first pass makes a table of contents, which the second pass uses. */
	dwarf_keep_contents(dwarf);
	resolve_all(fuzzed, dwarf);
	resolve_all(fuzzed, dwarf);
	check_counts(dwarf);
}

/* Implemented by fuzz_libdw.c. */
static void find_inlined_by_libdw(struct fuzzed *fuzzed)
{
	CLEANUP(libdw_cleanup) struct libdw *libdw = libdw_new(fuzzed->elf, fuzzed->elf);

	for (size_t i = 0; i < fuzzed->count; i++) {
		uint32_t unit = libdw_unit_of(libdw, fuzzed->vaddrs[i]);
		struct inline_chain chain;

		if (unit == LIBDW_NO_UNIT)
			continue;
		libdw_resolve(libdw, unit, &fuzzed->vaddrs[i], 1, &fuzzed->arena, &chain);
		read_chain(&chain);
	}
}

static int check_question(void *user, const struct debugfile_question *question, unsigned attempt,
			  char **path)
{
	(void)user;
	(void)attempt;
	(void)path;
	if (!debugfile_question_is_valid(question))
		abort();
	return -1;
}

static void ask_for_debug_files(struct elf_file *elf)
{
	static const struct debugfile_opener opener = {.open = check_question};

	elf_file_free(debugfile_find(elf, &opener));
	elf_file_free(debugfile_find_alt(elf, &opener));
}

static void disassemble(const struct fuzzed *fuzzed)
{
	struct disassembly code = {0};
	struct error *err;

	if (!fuzzed->count)
		return;
	err = disassembly_init(&code, fuzzed->elf, fuzzed->vaddrs[fuzzed->count / 2],
			       DISASSEMBLED_BYTES, false);
	if (!err)
		disassembly_deinit(&code);
	error_free(err);
}

static void read_all(struct fuzzed *fuzzed)
{
	find_symbols(fuzzed);
	find_rules(fuzzed);
	find_functions(fuzzed);
	find_inlined(fuzzed);
	ask_for_debug_files(fuzzed->elf);
	disassemble(fuzzed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed fuzzed = {.data = data, .size = size};

	error_free(elf_file_from_memory(data, size, "fuzz", &fuzzed.elf));
	if (!fuzzed.elf)
		return 0;
#ifndef HAVE_LZMA
	if (elf_file_section(fuzzed.elf, ".gnu_debugdata").present && replay_skip)
		replay_skip();
#endif
	choose_addresses(&fuzzed);
	if (LIBDW_ALONE)
		find_inlined_by_libdw(&fuzzed);
	else
		read_all(&fuzzed);
	arena_deinit(&fuzzed.arena);
	elf_file_free(fuzzed.elf);
	return 0;
}

/* ---- Damage ---- */

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Returns a number below count, which is not 0. */
static size_t pick(unsigned *state, size_t count)
{
	return ((size_t)next_random(state) << 24 | next_random(state)) % count;
}

/* The part of the file to damage. */
struct range {
	size_t at, len;
};

/* Chooses sections that are not loaded more often, because they are parsed,
 * unlike code. */
static size_t choose_header(const uint8_t *data, const Elf64_Ehdr *header, unsigned *state,
			    Elf64_Shdr *ret)
{
	size_t at = 0;

	for (unsigned attempt = 0; attempt < 3; attempt++) {
		at = header->e_shoff + pick(state, header->e_shnum) * sizeof(*ret);
		memcpy(ret, data + at, sizeof(*ret));
		if (!(ret->sh_flags & SHF_ALLOC) && ret->sh_type != SHT_NULL)
			break;
	}
	return at;
}

/* Returns a section's bytes, or sometimes its header, or the headers of the
 * file and its segments. */
static struct range choose_range(const uint8_t *data, size_t size, unsigned *state)
{
	struct range all = {0, size}, heads = {0, size < 512 ? size : 512};
	unsigned kind = next_random(state) % 100;
	Elf64_Ehdr header;
	Elf64_Shdr section;
	size_t at;

	if (kind < 2 || size < sizeof(header))
		return all;
	memcpy(&header, data, sizeof(header));
	if (kind < 4 || header.e_ident[EI_CLASS] != ELFCLASS64 || !header.e_shnum ||
	    header.e_shoff > size || (size - header.e_shoff) / sizeof(section) < header.e_shnum)
		return heads;
	at = choose_header(data, &header, state, &section);
	if (kind < 8)
		return (struct range){at, sizeof(section)};
	if (section.sh_type == SHT_NOBITS || section.sh_offset >= size || !section.sh_size ||
	    section.sh_size > size - section.sh_offset)
		return all;
	return (struct range){section.sh_offset, section.sh_size};
}

/* Returns numbers that often cause errors in arithmetic and comparisons. */
static uint64_t extreme(unsigned *state)
{
	uint64_t power = UINT64_C(1) << pick(state, 64);

	return next_random(state) % 2 ? power : power - 1 - pick(state, 2);
}

static void put_number(uint8_t *at, size_t room, uint64_t number, unsigned *state)
{
	size_t len = (size_t)1 << pick(state, 4);

	memcpy(at, &number, len < room ? len : room);
}

static void put_longest_uleb(uint8_t *at, size_t room, unsigned *state)
{
	size_t len = 1 + pick(state, 10);

	for (size_t i = 0; i < len && i < room; i++)
		at[i] = i + 1 < len ? 0xff : 0x7f;
}

static void add_to_offset(uint8_t *at, size_t room, unsigned *state)
{
	uint32_t offset;

	if (room < sizeof(offset))
		return;
	memcpy(&offset, at, sizeof(offset));
	offset += (uint32_t)pick(state, 64) - 32;
	memcpy(at, &offset, sizeof(offset));
}

static void copy_piece(uint8_t *start, struct range within, size_t at, unsigned *state)
{
	size_t from = pick(state, within.len), len = 1 + pick(state, 32);
	size_t room = within.len - (from > at ? from : at);

	memmove(start + at, start + from, len < room ? len : room);
}

static void damage(uint8_t *data, struct range within, unsigned *state)
{
	/* Headers of units, tables and sections are at the start. */
	size_t near = within.len < 64 ? within.len : 64;
	size_t at = pick(state, next_random(state) % 4 ? within.len : near);
	uint8_t *start = data + within.at;
	size_t room = within.len - at;

	switch (next_random(state) % 7) {
	case 0:
		start[at] ^= (uint8_t)(1u << pick(state, 8));
		break;
	case 1:
		start[at] = (uint8_t)next_random(state);
		break;
	case 2:
		start[at] = (uint8_t)(start[at] + next_random(state) % 3 - 1);
		break;
	case 3:
		put_number(start + at, room, extreme(state), state);
		break;
	case 4:
		put_longest_uleb(start + at, room, state);
		break;
	case 5:
		add_to_offset(start + at, room, state);
		break;
	default:
		copy_piece(start, within, at, state);
	}
}

/* Sometimes uses libFuzzer's own mutations, which also change the size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_bytes, unsigned seed)
{
	unsigned state = seed, count = 1 + next_random(&state) % 6;

	if (!size || next_random(&state) % 32 == 0)
		return LLVMFuzzerMutate(data, size, max_bytes);
	while (count--)
		damage(data, choose_range(data, size, &state), &state);
	return size;
}
