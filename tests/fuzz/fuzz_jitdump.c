/* Fuzzes jitdumps, which are read while their process writes them and at the
 * end. */
#include "proc/jitdump.h"
#include "symbol/jitdump_names.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 8 };

static void find_names(int fd, const uint64_t *offsets)
{
	CLEANUP(close_file) FILE *file = fdopen(dup(fd), "r");
	struct jitdump_function *functions;
	struct listed_line lines[PLACES];
	const char *names[PLACES];
	struct arena arena = {0};

	if (jitdump_names_is(file))
		jitdump_names_find(file, offsets, PLACES, &arena, names, lines);
	jitdump_functions_find(file, offsets, PLACES, &arena, &functions);
	free(functions);
	arena_deinit(&arena);
}

static void locate(int fd, const uint8_t *data, size_t size, struct timed_caller *caller)
{
	struct code_budget budget = {0};
	CLEANUP(jitdump_cleanup)
	struct jitdump *jitdump = jitdump_new(
		dup(fd), &(struct jitdump_options){.caller = caller, .budget = &budget});
	struct jitdump_place place;

	jitdump_read_on(jitdump);
	for (size_t i = 0; i < PLACES; i++) {
		uint64_t pc = 0x1000 * i, settled;

		/* An address that the file itself contains. */
		if (size >= 48 + 8 * i + 8)
			memcpy(&pc, data + 40 + 8 * i, sizeof(pc));
		if (jitdump_locate(jitdump, pc, i * 1000, &place) && place.offset & JITDUMP_OPEN)
			jitdump_settle(jitdump, place.offset, &settled);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t offsets[PLACES] = {0, 100, 120, 140, 200, 300, 1000, UINT64_MAX / 2};
	static struct timed_caller *caller;
	CLEANUP(close_fd) int fd = memfd_create("jitdump", MFD_CLOEXEC);

	if (!caller)
		caller = timed_caller_new();
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	locate(fd, data, size, caller);
	find_names(fd, offsets);
	return 0;
}
