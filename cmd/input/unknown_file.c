#include "cmd/input/unknown_file.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <string.h>

#define GO_TEXT "get it without debug=1: prof reads that"
#define CONVERT "prof reads what this command writes: pprof -proto -output prof.pb.gz PROGRAM FILE"

static const struct {
	const char *start, *what, *hint;
} unknown_file_kinds[] = {
	{"goroutine profile: ", "a goroutine profile of Go as text (debug=1)", GO_TEXT},
	{"threadcreate profile: ", "a profile of threads of Go as text (debug=1)", GO_TEXT},
	{"goroutine 1 [", "a dump of goroutines of Go (debug=2)", "get it without debug=2"},
	{"--- mutex:", "a mutex profile of Go as text (debug=1)", GO_TEXT},
	{"--- contention:", "a contention profile as text",
	 GO_TEXT ", or for other programs: " CONVERT},
	{"--- symbol", "a profile with symbols, as jeprof --raw writes it",
	 "prof reads the heap file that jemalloc wrote; or use the command jeprof"},
	{"--- heapprofile", "a profile with symbols, as pprof --raw writes it",
	 "prof reads the heap file that tcmalloc wrote"},
	{"{", "JSON of another profiler",
	 "prof reads pprof profiles, folded stacks, heap files and perf recordings"},
};

/* A header of words 0, 3, 0 and the period. Source: gperftools, cpuprofile-fileformat.html. */
static bool is_cpu_profile(struct bytes bytes, unsigned word_bytes)
{
	uint64_t words[4];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = bytes_uint(&bytes, word_bytes);
	return bytes_ok(&bytes) && !words[0] && words[1] == 3 && !words[2] && words[3] &&
	       words[3] < 1 << 30;
}

static struct error *named(const char *what, const char *hint)
{
	return error_hint(error_new("it is %s, which prof does not read", what), "%s", hint);
}

/* Recognizes "allocs profile: total 3". Other profiles of Go may have any name. */
static bool is_go_text(struct bytes bytes)
{
	static const char middle[] = " profile: total ";
	const unsigned char *end = memchr(bytes.at, '\n', bytes_left(&bytes));
	size_t len = end ? (size_t)(end - bytes.at) : bytes_left(&bytes);

	return memmem(bytes.at, len, middle, sizeof(middle) - 1);
}

struct error *unknown_file(const unsigned char *first, size_t len)
{
	struct bytes bytes = bytes_of(first, len);

	for (size_t i = 0; i < ARRAY_SIZE(unknown_file_kinds); i++)
		if (bytes_begin(bytes, unknown_file_kinds[i].start))
			return named(unknown_file_kinds[i].what, unknown_file_kinds[i].hint);
	if (is_go_text(bytes))
		return named("a profile of Go as text (debug=1)", GO_TEXT);
	if (is_cpu_profile(bytes, 8) || is_cpu_profile(bytes, 4))
		return named("a CPU profile of gperftools", CONVERT);
	return NULL;
}
