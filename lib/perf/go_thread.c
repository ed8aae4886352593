#include "perf/go_thread.h"

#include <stdbool.h>

/* Indexes of words in a g: the bounds of its stack, its m, and sched (sp, pc,
 * g, ctxt, …). */
enum { G_LOW = 0, G_HIGH = 1, G_M = 6, G_SP = 7, G_PC = 8, G_WORDS = 14 };

/* Indexes of words in an m: g0 and curg. The index of curg, and that of bp in a
 * gobuf, depend on the size of a gobuf. */
enum { M_G0 = 0, M_WORDS = 25 };
static const struct {
	unsigned curg, bp;
} go_layouts[] = {
	{24, 13}, /* until Go 1.24, where a gobuf has seven words */
	{23, 12}, /* since Go 1.25, where a gobuf has six words */
};
enum { GO_LAYOUTS = sizeof(go_layouts) / sizeof(go_layouts[0]) };

static bool go_thread_read_words(memory_reader *read, pid_t tid, uint64_t at, uint64_t *words,
				 size_t count)
{
	size_t len = count * sizeof(*words);

	return at && at % sizeof(*words) == 0 && read(tid, at, words, len) == len;
}

/* Reads a goroutine. Fails unless it belongs to the thread m. */
static bool read_g(memory_reader *read, pid_t tid, uint64_t g, uint64_t m, uint64_t words[G_WORDS])
{
	return go_thread_read_words(read, tid, g, words, G_WORDS) && words[G_M] == m;
}

void go_thread_read(memory_reader *read, pid_t tid, uint64_t g, uint64_t sp, struct go_sched *ret)
{
	uint64_t words[G_WORDS], m[M_WORDS], m_at;

	*ret = (struct go_sched){0};
	if (!go_thread_read_words(read, tid, g, words, G_WORDS))
		return;
	m_at = words[G_M];
	if (!go_thread_read_words(read, tid, m_at, m, M_WORDS) ||
	    !read_g(read, tid, m[M_G0], m_at, words))
		return;
	for (unsigned i = 0; i < GO_LAYOUTS; i++) {
		if (m[go_layouts[i].curg] == m[M_G0] ||
		    !read_g(read, tid, m[go_layouts[i].curg], m_at, words))
			continue;
		if (sp - words[G_LOW] >= words[G_HIGH] - words[G_LOW])
			*ret = (struct go_sched){.sp = words[G_SP],
						 .pc = words[G_PC],
						 .fp = words[go_layouts[i].bp]};
		return;
	}
}
