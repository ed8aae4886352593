#include "symbol/code_listing.h"

#include "base/alloc.h"
#include "elf/disassembly.h"
#include "symbol/demangle.h"
#include "symbol/function_starts.h"
#include "symbol/gopclntab.h"
#include "symbol/jitdump_code.h"
#include "symbol/symtab.h"

#include <string.h>

/*
 * A listing consists of, for each function, its vaddr and its number of
 * instructions (u64 each), and for each instruction its size (u8), text and
 * target (with NULs).
 */

/* Minimum size of an encoded instruction. */
enum { INSTRUCTION_BYTES_MIN = 3 };

/* The symbols of a file. */
struct lister {
	const struct code_listing_request *request;
	struct elf_file *elf;
	struct elf_file *debug; /* NULL if there is none */
	struct symtab *symtab;
	struct gopclntab *go;		/* NULL if it is not a Go program */
	struct function_starts *starts; /* NULL if there are none */
	struct arena names;
	FILE *out;
};

static void lister_deinit(struct lister *lister)
{
	function_starts_free(lister->starts);
	gopclntab_free(lister->go);
	symtab_free(lister->symtab);
	elf_file_free(lister->debug);
	arena_deinit(&lister->names);
}

static bool code_listing_find(struct lister *lister, uint64_t vaddr, struct symbol *ret)
{
	return symtab_find(lister->symtab, vaddr, &lister->names, ret) ||
	       (lister->go && gopclntab_find(lister->go, vaddr, &lister->names, ret));
}

/* Finds the function to list, which may have no symbol. */
static bool code_listing_find_listed(struct lister *lister, uint64_t vaddr, struct symbol *ret)
{
	uint64_t start, end;

	if (code_listing_find(lister, vaddr, ret))
		return true;
	if (!lister->starts || !function_starts_find(lister->starts, vaddr, &start, &end))
		return false;
	*ret = (struct symbol){.vaddr = start, .size_bytes = end - start, .name = ""};
	return true;
}

static void code_listing_put_u64(struct lister *lister, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, lister->out);
}

static void code_listing_put_text(struct lister *lister, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, lister->out);
}

static void put_target(struct lister *lister, const struct symbol *function, uint64_t vaddr)
{
	CLEANUP(free_ptr) char *demangled = NULL;
	struct symbol target;

	if (!vaddr || !lister->symtab || !code_listing_find(lister, vaddr, &target) ||
	    target.vaddr == function->vaddr) {
		code_listing_put_text(lister, "");
		return;
	}
	demangled = demangle(target.name);
	code_listing_put_text(lister, demangled ? demangled : target.name);
}

static struct error *code_listing_put_function(struct lister *lister, const struct symbol *function)
{
	const struct code_listing_request *request = lister->request;
	struct disassembly code;
	struct error *err = disassembly_init(&code, lister->elf, function->vaddr,
					     function->size_bytes, request->intel_syntax);

	if (err)
		return err;
	code_listing_put_u64(lister, function->vaddr);
	code_listing_put_u64(lister, code.count);
	for (size_t i = 0; i < code.count; i++) {
		fputc((int)code.items[i].size_bytes, lister->out);
		code_listing_put_text(lister, code.items[i].text);
		put_target(lister, function, code.items[i].target);
	}
	disassembly_deinit(&code);
	return NULL;
}

static struct error *code_listing_put_functions(struct lister *lister)
{
	const struct code_listing_request *request = lister->request;
	struct error *err = NULL;
	uint64_t end = 0;

	for (size_t i = 0; !err && i < request->count; i++) {
		struct symbol symbol;

		if (request->vaddrs[i] < end ||
		    !code_listing_find_listed(lister, request->vaddrs[i], &symbol))
			continue;
		/* Functions in a listing must not overlap. */
		if (symbol.vaddr < end) {
			symbol.size_bytes -= end - symbol.vaddr;
			symbol.vaddr = end;
		}
		end = symbol.vaddr + symbol.size_bytes;
		err = code_listing_put_function(lister, &symbol);
	}
	return err;
}

/* Treats each function of a jitdump as a separate file. */
static struct error *put_jitdump(struct lister *lister)
{
	const struct code_listing_request *request = lister->request;
	struct jitdump_function *functions = NULL;
	CLEANUP(close_file)
	FILE *file = fmemopen((void *)(uintptr_t)request->jitdump.at, bytes_left(&request->jitdump),
			      "r");
	size_t count = file ? jitdump_functions_find(file, request->vaddrs, request->count,
						     &lister->names, &functions)
			    : 0;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;

		err = jitdump_code_elf(request->jitdump, &functions[i], &elf);
		if (err)
			break;
		lister->elf = elf;
		err = code_listing_put_function(
			lister, &(struct symbol){
					.vaddr = functions[i].start,
					.size_bytes = functions[i].end - functions[i].start,
				});
	}
	free(functions);
	return err;
}

static struct error *put_elf(struct lister *lister)
{
	struct elf_file *elf = lister->elf = lister->request->elf;

	lister->debug = debugfile_find(elf, &lister->request->opener);
	lister->symtab = symtab_new(elf, lister->debug);
	lister->go = gopclntab_new(elf);
	lister->starts = function_starts_new(elf, NULL);
	return code_listing_put_functions(lister);
}

struct error *code_listing_write(const struct code_listing_request *request, char **ret,
				 size_t *len)
{
	CLEANUP(free_ptr) char *bytes = NULL;
	CLEANUP(lister_deinit) struct lister lister = {.request = request};
	struct error *err;

	lister.out = open_memstream(&bytes, len);
	if (!lister.out)
		return error_new("out of memory");
	err = request->elf ? put_elf(&lister) : put_jitdump(&lister);
	/* The stream is in memory, so only memory can be missing. */
	if (fclose(lister.out) != 0 && !err)
		err = error_new("out of memory");
	if (!err)
		*ret = STEAL(bytes);
	return err;
}

/* Checks that the text is ASCII, which is what capstone writes. */
static bool code_listing_is_code(const char *text)
{
	for (; text && *text; text++)
		if (*text != '\t' && (*text < ' ' || *text > '~'))
			return false;
	return text;
}

static bool read_instructions(struct bytes *from, struct listed_function *function)
{
	uint64_t vaddr = function->vaddr;

	for (size_t i = 0; i < function->count; i++) {
		struct listed_instruction *item = &function->items[i];

		*item = (struct listed_instruction){.vaddr = vaddr, .size_bytes = bytes_u8(from)};
		item->text = bytes_cstr(from);
		item->target = bytes_cstr(from);
		if (!item->size_bytes || !code_listing_is_code(item->text) || !item->target ||
		    __builtin_add_overflow(vaddr, item->size_bytes, &vaddr))
			return false;
	}
	function->end = vaddr;
	return true;
}

static bool code_listing_read_function(struct bytes *from, struct code_listing *listing)
{
	uint64_t end = listing->count ? listing->functions[listing->count - 1].end : 0;
	struct listed_function function = {.vaddr = bytes_u64(from)};
	uint64_t count = bytes_u64(from);

	if (!bytes_ok(from) || function.vaddr < end || !count ||
	    count > bytes_left(from) / INSTRUCTION_BYTES_MIN)
		return false;
	function.count = (size_t)count;
	function.items = xcalloc(function.count, sizeof(*function.items));
	GROW(listing->functions, listing->count, listing->room);
	listing->functions[listing->count++] = function;
	return read_instructions(from, &listing->functions[listing->count - 1]);
}

struct code_listing *code_listing_read(char *bytes, size_t len)
{
	CLEANUP(code_listing_cleanup) struct code_listing *listing = xcalloc(1, sizeof(*listing));
	struct bytes from = bytes_of(bytes, len);

	listing->bytes = bytes;
	while (bytes_left(&from))
		if (!code_listing_read_function(&from, listing))
			return NULL;
	return STEAL(listing);
}

void code_listing_free(struct code_listing *listing)
{
	if (!listing)
		return;
	for (size_t i = 0; i < listing->count; i++)
		free(listing->functions[i].items);
	free(listing->functions);
	free(listing->bytes);
	free(listing);
}
