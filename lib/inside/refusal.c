#include "inside/refusal.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "proc/exec_privileges.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* ---- Reasons why the library is not loaded ---- */

/*
 * Returns the path of the dynamic loader in `loader`, or false if the program
 * has none.
 */
static bool find_loader(const struct elf_file *elf, char *loader, size_t room)
{
	struct bytes all = elf_file_contents(elf), at = all;
	Elf64_Ehdr header = {0};
	const void *taken = bytes_take(&at, sizeof(header));

	if (taken)
		memcpy(&header, taken, sizeof(header));
	at = bytes_at(all, header.e_phoff);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		struct bytes name;
		size_t len;

		taken = bytes_take(&at, sizeof(segment));
		if (!taken)
			return false;
		memcpy(&segment, taken, sizeof(segment));
		if (segment.p_type != PT_INTERP)
			continue;
		name = bytes_at(all, segment.p_offset);
		len = segment.p_filesz < room - 1 ? segment.p_filesz : room - 1;
		taken = bytes_take(&name, len);
		if (taken)
			memcpy(loader, taken, len);
		loader[taken ? len : 0] = '\0';
		return true;
	}
	return false;
}

static bool inside_refusal_is_go(struct elf_file *elf)
{
	return elf_file_has_section(elf, ".note.go.buildid") ||
	       elf_file_has_section(elf, ".go.buildinfo");
}

static bool section_holds(struct elf_file *elf, const char *section, const char *text)
{
	struct bytes data = elf_file_section(elf, section).data;

	return data.at && memmem(data.at, bytes_left(&data), text, strlen(text));
}

/* AddressSanitizer's library has a DT_NEEDED entry with its name. */
static bool needs_address_sanitizer(struct elf_file *elf)
{
	return section_holds(elf, ".dynstr", "libasan.so.");
}

/* If so, the dynamic loader ignores LD_PRELOAD. */
static bool gains_rights(const struct inside_program *program)
{
	enum exec_privileges after = exec_privileges_of(program->path, &program->file);

	return after != EXEC_KEEPS_PRIVILEGES && after != EXEC_FORBIDS_READING;
}

static const char go_hint[] =
	"curl -o heap.pb.gz http://localhost:6060/debug/pprof/heap gets Go's own heap profile (of "
	"a program that imports net/http/pprof), prof report heap.pb.gz shows it; prof record "
	"--growth shows where memory grows";
static const char growth_hint[] =
	"prof record --growth shows where its memory grows, whatever its allocator";
static const char rights_hint[] = "run prof as the user whose privileges it gains";
#define LENIENT "verify_asan_link_order=0"
static const char sanitizer_hint[] = "ASAN_OPTIONS=" LENIENT " lets it run with prof's library";

static bool is_sanitizer_lenient(void)
{
	const char *options = getenv("ASAN_OPTIONS");

	return options && strstr(options, LENIENT);
}

/*
 * Returns why the library is not loaded, to follow the path, or NULL. *hint is
 * NULL if there is no specific one.
 */
static const char *find_obstacle(const struct inside_program *program, const char **hint)
{
	struct elf_file *elf = program->elf;
	char loader[256];

	*hint = NULL;
	if (elf_file_is_32(elf))
		return "is a 32-bit program, but prof's library is 64-bit";
	if (OWN_MACHINE != EM_NONE && elf_file_machine(elf) != OWN_MACHINE)
		return "is a program of another architecture";
	if (!find_loader(elf, loader, sizeof(loader)))
		return inside_refusal_is_go(elf) ? "is a static Go program, which loads no library"
						 : "is statically linked and loads no library";
	if (strstr(loader, "ld-musl"))
		return "uses musl, but prof's library needs glibc";
	*hint = rights_hint;
	if (gains_rights(program))
		return "gains privileges when executed (set-user-ID, set-group-ID or file "
		       "capabilities), so the dynamic loader ignores LD_PRELOAD";
	*hint = sanitizer_hint;
	if (needs_address_sanitizer(elf) && !is_sanitizer_lenient())
		return "is built with AddressSanitizer, which aborts if another library is "
		       "loaded before its own";
	return NULL;
}

static const char *hint_of(const struct inside_program *program, enum inside_use use)
{
	if (use == INSIDE_FOR_CPU)
		return "--via perf samples it from outside";
	return inside_refusal_is_go(program->elf) ? go_hint : growth_hint;
}

struct error *inside_check_program(const struct inside_program *program, enum inside_use use)
{
	const char *hint, *what = program ? find_obstacle(program, &hint) : NULL;

	if (!what)
		return NULL;
	return error_hint(error_new("%s %s", program->path, what), "%s",
			  hint ? hint : hint_of(program, use));
}

/* ---- Allocators in the program itself ---- */

#define JEMALLOC_OPTIONS "MALLOC_CONF=prof:true,prof_accum:true,prof_final:true"
#define RUST_JEMALLOC_HINT                                                                         \
	"_RJEM_" JEMALLOC_OPTIONS " makes it write jeprof.*.heap, which prof report shows (the "   \
	"crate's feature \"profiling\" has to be on)"
#define JEMALLOC_HINT                                                                              \
	JEMALLOC_OPTIONS " makes it write jeprof.*.heap, which prof report shows (jemalloc built " \
			 "with --enable-prof)"
#define TCMALLOC_HINT "HEAPPROFILE=PREFIX makes it write PREFIX.*.heap, which prof report shows"

/* In order of precedence: the first that a program defines is its allocator. */
static const struct own_allocator {
	const char *symbol, *name, *hint;
} allocators[] = {
	{"_rjem_malloc", "jemalloc", RUST_JEMALLOC_HINT},
	{"_rjem_je_malloc", "jemalloc", RUST_JEMALLOC_HINT},
	{"je_malloc", "jemalloc", JEMALLOC_HINT},
	{"mallocx", "jemalloc", JEMALLOC_HINT},
	{"tc_malloc", "tcmalloc", TCMALLOC_HINT},
	{"mi_free", "mimalloc", growth_hint},
	{"malloc", "a malloc() of its own", growth_hint},
};

/*
 * Stripped programs keep the texts of their allocator's messages. The array
 * must not be in .rodata, where these texts are searched, so that prof itself
 * is not taken for a user of jemalloc.
 */
static const struct stripped_allocator {
	char text[24];
	struct own_allocator allocator;
} stripped_allocators[] = {
	{"<jemalloc>: ",
	 {NULL, "jemalloc",
	  JEMALLOC_OPTIONS
	  " (of a Rust crate: _RJEM_MALLOC_CONF) makes it "
	  "write jeprof.*.heap, which prof report shows (jemalloc built with profiling)"}},
	{"mimalloc: error: ", {NULL, "mimalloc", growth_hint}},
};

static const char *name_at(struct bytes names, uint32_t offset)
{
	struct bytes at = bytes_at(names, offset);

	return bytes_ok(&at) && memchr(at.at, '\0', bytes_left(&at)) ? (const char *)at.at : "";
}

/*
 * Returns the lowest index of an allocator that the symbols define, or `best`.
 */
static size_t find_defined(struct bytes symbols, struct bytes names, size_t best)
{
	const void *taken;

	while (best && (taken = bytes_take(&symbols, sizeof(Elf64_Sym)))) {
		Elf64_Sym symbol;
		const char *name;

		memcpy(&symbol, taken, sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = name_at(names, symbol.st_name);
		for (size_t i = 0; i < best; i++)
			if (!strcmp(name, allocators[i].symbol))
				best = i;
	}
	return best;
}

static const struct own_allocator *find_stripped(struct elf_file *elf)
{
	for (size_t i = 0; i < ARRAY_SIZE(stripped_allocators); i++)
		if (!elf_file_has_section(elf, ".symtab") &&
		    section_holds(elf, ".rodata", stripped_allocators[i].text))
			return &stripped_allocators[i].allocator;
	return NULL;
}

static const struct own_allocator *find_allocator(struct elf_file *elf)
{
	size_t best = ARRAY_SIZE(allocators);

	best = find_defined(elf_file_section(elf, ".symtab").data,
			    elf_file_section(elf, ".strtab").data, best);
	best = find_defined(elf_file_section(elf, ".dynsym").data,
			    elf_file_section(elf, ".dynstr").data, best);
	return best < ARRAY_SIZE(allocators) ? &allocators[best] : find_stripped(elf);
}

struct error *inside_find_own_allocator(const struct inside_program *program)
{
	const struct own_allocator *allocator;

	if (!program)
		return NULL;
	if (inside_refusal_is_go(program->elf))
		return error_hint(error_new("%s is a Go program: only allocations of its C code "
					    "are recorded",
					    program->path),
				  "%s", go_hint);
	allocator = find_allocator(program->elf);
	return allocator
		       ? error_hint(
				 error_new(
					 "%s has %s linked in, whose allocations are not recorded",
					 program->path, allocator->name),
				 "%s", allocator->hint)
		       : NULL;
}

struct error *inside_explain_process(pid_t pid)
{
	CLEANUP(inside_program_cleanup)
	struct inside_program *program = inside_program_of_process(pid);
	struct error *err = inside_check_program(program, INSIDE_FOR_MEMORY);

	if (!err)
		err = inside_find_own_allocator(program);
	if (err)
		return error_wrap(err, "PID %d", (int)pid);
	return error_hint(error_new("PID %d does not run under prof's library", (int)pid),
			  "start it with prof inside COMMAND; or prof record --growth -p %d shows "
			  "where its memory grows",
			  (int)pid);
}
