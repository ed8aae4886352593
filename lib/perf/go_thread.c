#include "perf/go_thread.h"

#include <stdbool.h>

/* Words of g: its stack's bounds, its m, and sched (sp, pc, g, ctxt, …). */
enum { G_LOW = 0, G_HIGH = 1, G_M = 6, G_SP = 7, G_PC = 8, G_WORDS = 14 };

/* Words of m: g0, and curg, whose place depends on the size of a gobuf, as does that of its bp. */
enum { M_G0 = 0, M_WORDS = 25 };
static const struct {
	unsigned curg, bp;
} layouts[] = {
	{24, 13}, /* to Go 1.24: a gobuf has seven words */
	{23, 12}, /* since Go 1.25: six */
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static bool read_words(memory_reader *read, pid_t tid, uint64_t at, uint64_t *words, size_t count)
{
	size_t len = count * sizeof(*words);

	return at && at % sizeof(*words) == 0 && read(tid, at, words, len) == len;
}

/* Reads a goroutine that belongs to the thread m. */
static bool read_g(memory_reader *read, pid_t tid, uint64_t g, uint64_t m, uint64_t words[G_WORDS])
{
	return read_words(read, tid, g, words, G_WORDS) && words[G_M] == m;
}

void go_thread_read(memory_reader *read, pid_t tid, uint64_t g, uint64_t sp, struct go_sched *ret)
{
	uint64_t words[G_WORDS], m[M_WORDS], m_at;

	*ret = (struct go_sched){0};
	if (!read_words(read, tid, g, words, G_WORDS))
		return;
	m_at = words[G_M];
	if (!read_words(read, tid, m_at, m, M_WORDS) || !read_g(read, tid, m[M_G0], m_at, words))
		return;
	for (unsigned i = 0; i < LAYOUTS; i++) {
		if (m[layouts[i].curg] == m[M_G0] ||
		    !read_g(read, tid, m[layouts[i].curg], m_at, words))
			continue;
		if (sp - words[G_LOW] >= words[G_HIGH] - words[G_LOW])
			*ret = (struct go_sched){
				.sp = words[G_SP], .pc = words[G_PC], .fp = words[layouts[i].bp]};
		return;
	}
}
