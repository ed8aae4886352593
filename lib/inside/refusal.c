#include "inside/refusal.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	SCRIPT_LINE_BYTES = 256, /* as the kernel reads it (BINPRM_BUF_SIZE) */
	SCRIPT_DEPTH = 5,	 /* interpreters that are scripts themselves */
};

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* ---- The file of a command ---- */

static bool is_executable(const char *path)
{
	struct stat stat_buf;

	return !stat(path, &stat_buf) && S_ISREG(stat_buf.st_mode) && !access(path, X_OK);
}

/* To be freed; NULL: there is none. */
static char *look_up(const char *command)
{
	const char *at = getenv("PATH");

	if (strchr(command, '/'))
		return is_executable(command) ? xstrdup(command) : NULL;
	for (at = at ? at : "/bin:/usr/bin"; at;
	     at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		size_t len = strcspn(at, ":");
		CLEANUP(free_ptr)
		char *path = xasprintf("%.*s/%s", len ? (int)len : 1, len ? at : ".", command);

		if (is_executable(path))
			return STEAL(path);
	}
	return NULL;
}

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The interpreter of a script, to be freed; NULL: the file is not a script. */
static char *script_interpreter(int fd)
{
	static const char blanks[] = " \t";
	char line[SCRIPT_LINE_BYTES + 1];
	ssize_t len = pread(fd, line, SCRIPT_LINE_BYTES, 0);
	char *at = line + 2;

	if (len < 3 || memcmp(line, "#!", 2) != 0)
		return NULL;
	line[len] = '\0';
	at += strspn(at, blanks);
	at[strcspn(at, " \t\r\n")] = '\0';
	return *at ? xstrdup(at) : NULL;
}

/* The file that the kernel executes for a command. -1: none, or it cannot be read. */
static int open_program(const char *command, char **path)
{
	CLEANUP(free_ptr) char *at = look_up(command);

	for (int depth = 0; at && depth < SCRIPT_DEPTH; depth++) {
		CLEANUP(close_fd) int fd = open_file(at);
		char *interpreter = fd < 0 ? NULL : script_interpreter(fd);

		if (!interpreter) {
			*path = STEAL(at);
			return steal_fd(&fd);
		}
		free(at);
		at = interpreter;
	}
	return -1;
}

/* NULL: it is not an ELF file that can be read. */
static struct elf_file *open_elf(const char *command, char **path, struct stat *ret)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	CLEANUP(close_fd) int fd = open_program(command, path);
	struct elf_file *elf = NULL;

	if (fd < 0 || fstat(fd, ret) < 0)
		return NULL;
	err = elf_file_open(steal_fd(&fd), *path, &elf);
	return err ? NULL : elf;
}

/* ---- What keeps a library out ---- */

/* The path of the dynamic loader; false: the program has none. */
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

static bool is_go(struct elf_file *elf)
{
	return elf_file_has_section(elf, ".note.go.buildid") ||
	       elf_file_has_section(elf, ".go.buildinfo");
}

static const char go_hint[] =
	"Go's own heap profile has it: import net/http/pprof, then prof report of what "
	"/debug/pprof/heap gives";
static const char growth_hint[] = "prof record --growth shows where its memory grows";

/* The dynamic loader ignores LD_PRELOAD then. */
static bool gains_rights(const char *path, const struct stat *file)
{
	return (file->st_mode & S_ISUID && file->st_uid != getuid()) ||
	       ((file->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		file->st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static struct error *check_elf(struct elf_file *elf, const char *path, const struct stat *file)
{
	char loader[256];

	if (elf_file_is_32(elf))
		return error_hint(
			error_new("%s is a 32-bit program, and prof's library is not", path),
			growth_hint);
	if (OWN_MACHINE != EM_NONE && elf_file_machine(elf) != OWN_MACHINE)
		return error_hint(error_new("%s is a program of another architecture", path),
				  growth_hint);
	if (!find_loader(elf, loader, sizeof(loader))) {
		if (is_go(elf))
			return error_hint(error_new("%s is a static Go program, which loads no "
						    "library",
						    path),
					  go_hint);
		return error_hint(
			error_new("%s is statically linked, so that it loads no library", path),
			growth_hint);
	}
	if (strstr(loader, "ld-musl"))
		return error_hint(
			error_new("%s runs with musl, and prof's library needs glibc", path),
			growth_hint);
	if (gains_rights(path, file))
		return error_hint(error_new("%s gains rights when it is executed, so that it loads "
					    "no library of others",
					    path),
				  "run it as the user whose rights it gets");
	return NULL;
}

struct error *inside_check_command(const char *command)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct stat file;
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_elf(command, &path, &file);

	return elf ? check_elf(elf, path, &file) : NULL;
}

/* ---- Allocators in the program itself ---- */

/* The first one that a program defines is its own. */
static const struct own_allocator {
	const char *symbol, *name, *hint;
} allocators[] = {
	{"_rjem_malloc", "jemalloc",
	 "built with profiling, _RJEM_MALLOC_CONF=prof:true,prof_final:true makes it write heap "
	 "files, which prof convert reads"},
	{"_rjem_je_malloc", "jemalloc",
	 "built with profiling, _RJEM_MALLOC_CONF=prof:true,prof_final:true makes it write heap "
	 "files, which prof convert reads"},
	{"je_malloc", "jemalloc",
	 "built with profiling, MALLOC_CONF=prof:true,prof_final:true makes it write heap files, "
	 "which prof convert reads"},
	{"mallocx", "jemalloc",
	 "built with profiling, MALLOC_CONF=prof:true,prof_final:true makes it write heap files, "
	 "which prof convert reads"},
	{"tc_malloc", "tcmalloc",
	 "HEAPPROFILE=PREFIX makes it write heap files, which prof convert reads"},
	{"mi_malloc", "mimalloc", growth_hint},
	{"malloc", "a malloc() of its own", growth_hint},
};

static const char *name_at(struct bytes names, uint32_t offset)
{
	struct bytes at = bytes_at(names, offset);

	return bytes_ok(&at) && memchr(at.at, '\0', bytes_left(&at)) ? (const char *)at.at : "";
}

/* The lowest index of an allocator that the symbols define. */
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

static const struct own_allocator *find_allocator(struct elf_file *elf)
{
	size_t best = ARRAY_SIZE(allocators);

	best = find_defined(elf_file_section(elf, ".symtab").data,
			    elf_file_section(elf, ".strtab").data, best);
	best = find_defined(elf_file_section(elf, ".dynsym").data,
			    elf_file_section(elf, ".dynstr").data, best);
	return best < ARRAY_SIZE(allocators) ? &allocators[best] : NULL;
}

struct error *inside_find_own_allocator(const char *command)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct stat file;
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_elf(command, &path, &file);
	const struct own_allocator *allocator;

	if (!elf)
		return NULL;
	if (is_go(elf))
		return error_hint(
			error_new("of %s, a Go program, only what C code allocates is seen", path),
			go_hint);
	allocator = find_allocator(elf);
	return allocator ? error_hint(error_new("%s has %s linked in, whose blocks are not seen",
						path, allocator->name),
				      "%s", allocator->hint)
			 : NULL;
}
