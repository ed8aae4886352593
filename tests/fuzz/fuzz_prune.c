/* Fuzzes drop_frames, keep_frames and function names, one per line. The time
 * must be bounded. */
#include "format/pprof/prune.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "replay.h"

#include <assert.h>

/* Between two checks of the clock, one name is matched. */
#define ONE_MATCH_NS (20 * UINT64_C(1000000000))

static char *take_line(const char **at, const char *end)
{
	const char *from = *at, *until = memchr(from, '\n', (size_t)(end - from));

	*at = until ? until + 1 : end;
	return xstrndup(from, (size_t)((until ? until : end) - from));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	CLEANUP(free_ptr) char *drop = take_line(&at, end), *keep = take_line(&at, end);
	uint64_t started_ns = clock_thread_cpu_ns();
	struct pprof_prune prune;

	note_text("refused", pprof_prune_init(&prune, drop, keep, 1));
	while (at < end) {
		CLEANUP(free_ptr) char *name = take_line(&at, end);

		note_number("drops", pprof_prunes(&prune) && pprof_prune_matches(&prune, name));
	}
	pprof_prune_deinit(&prune);
	assert(clock_thread_cpu_ns() - started_ns < PPROF_PRUNE_NS + ONE_MATCH_NS);
	return 0;
}
