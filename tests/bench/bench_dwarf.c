/*
 * bench_dwarf FILE [ADDRESSES [THREADS]]: measures how fast DWARF is read on
 * one thread. Prints the time to open the file, the megabytes of .debug_info
 * that are scanned per second, and the time to symbolize ADDRESSES (3000)
 * addresses, which are spread evenly over the code with debug information.
 *
 * With THREADS, the threads share large units. Also prints the total CPU time,
 * and the critical path: the work of one thread alone plus that of the busiest
 * thread that shares. This is the time on an otherwise idle machine.
 */
#include "dwarf/dwarf.h"

#include "base/alloc.h"
#include "dwarf/reader.h"
#include "dwarf/scan.h"
#include "symbol/thread_pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

enum { THREADS_MAX = 64, PART_BYTES = 4 << 20 };

struct sharing {
	unsigned threads;
	double busy_s[THREADS_MAX]; /* by thread, for this shared unit */
	double shared_s, busiest_s; /* sums over all shared units */
	void (*work)(void *context, size_t part);
	void *context;
};

static void run_part(void *context, size_t part, unsigned thread)
{
	struct sharing *sharing = context;
	double start = cpu_s(CLOCK_THREAD_CPUTIME_ID);

	sharing->work(sharing->context, part);
	sharing->busy_s[thread] += cpu_s(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void share(void *user, size_t parts, void (*work)(void *context, size_t part), void *context)
{
	struct sharing *sharing = user;
	double busiest_s = 0;

	memset(sharing->busy_s, 0, sizeof(sharing->busy_s));
	sharing->work = work;
	sharing->context = context;
	thread_pool_run(&(struct thread_pool){.threads = sharing->threads}, parts, run_part,
			sharing);
	for (unsigned i = 0; i < sharing->threads; i++) {
		sharing->shared_s += sharing->busy_s[i];
		if (sharing->busy_s[i] > busiest_s)
			busiest_s = sharing->busy_s[i];
	}
	sharing->busiest_s += busiest_s;
}

static double resident_peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static struct elf_file *open_image(const char *path)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct elf_file *image;

	err = elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &image);
	if (!err)
		return image;
	fprintf(stderr, "%s\n", error_text(err));
	return NULL;
}

/* Spreads addresses over the executable segments. Returns the number of
 * addresses with a unit. */
static size_t spread_addresses(const struct elf_file *image, const struct dwarf *dwarf,
			       uint64_t *vaddrs, size_t count)
{
	unsigned segment_count;
	const struct elf_file_segment *segments = elf_file_segments(image, &segment_count);
	uint64_t bytes = 0;
	size_t found = 0;

	for (unsigned i = 0; i < segment_count; i++)
		bytes += segments[i].executable ? segments[i].file_bytes : 0;
	for (unsigned i = 0; i < segment_count; i++) {
		const struct elf_file_segment *segment = &segments[i];

		if (!segment->executable)
			continue;
		for (uint64_t at = 0; at < segment->file_bytes && found < count;
		     at += bytes / count + 1)
			if (dwarf_unit_of(dwarf, segment->vaddr + at) != DWARF_NO_UNIT)
				vaddrs[found++] = segment->vaddr + at;
	}
	return found;
}

struct query {
	uint64_t vaddr;
	uint32_t unit;
};

static int compare_queries(const void *left, const void *right)
{
	const struct query *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

/* Returns the number of symbolized functions, including inlined ones. *units:
 * the number of units; *bytes: their size. */
static size_t resolve_all(const struct dwarf *dwarf, uint64_t *vaddrs, size_t count, size_t *units,
			  uint64_t *bytes)
{
	CLEANUP(free_ptr) struct query *queries = xcalloc(count, sizeof(*queries));
	CLEANUP(free_ptr) struct inline_chain *chains = xcalloc(count, sizeof(*chains));
	struct arena arena = {0};
	size_t calls = 0;

	for (size_t i = 0; i < count; i++)
		queries[i] = (struct query){vaddrs[i], dwarf_unit_of(dwarf, vaddrs[i])};
	if (count)
		qsort(queries, count, sizeof(*queries), compare_queries);
	for (size_t i = 0; i < count; i++)
		vaddrs[i] = queries[i].vaddr;
	*units = *bytes = 0;
	for (size_t end, i = 0; i < count; i = end) {
		uint32_t unit = queries[i].unit;

		for (end = i; end < count && queries[end].unit == unit;)
			end++;
		dwarf_resolve(dwarf, unit, &vaddrs[i], end - i, NULL, &arena, &chains[i]);
		*bytes += dwarf_unit_bytes(dwarf, unit);
		++*units;
	}
	for (size_t i = 0; i < count; i++)
		calls += chains[i].count;
	arena_deinit(&arena);
	return calls;
}

static double scan_all_s(struct elf_file *image, uint64_t *bytes)
{
	struct dwarf_sections sections = {0};
	struct dwarf_file file = {0};
	struct dwarf_reader reader;
	struct arena arena = {0};
	struct dwarf_die die;
	double spent = 0;

	sections.of[DWARF_INFO] = elf_file_section(image, ".debug_info").data;
	sections.of[DWARF_ABBREV] = elf_file_section(image, ".debug_abbrev").data;
	dwarf_file_init(&file, &sections);
	dwarf_reader_init(&reader, &file, NULL, &arena);
	for (size_t i = 0; i < file.unit_count; i++) {
		const struct dwarf_view *view =
			&dwarf_reader_open(&reader, &file, &file.units[i])->view;
		double start = now_s();
		struct dwarf_scan scan;

		dwarf_scan_init(&scan, view, DWARF_FUNCTION);
		while (dwarf_scan_next(&scan, &die))
			;
		spent += now_s() - start;
	}
	*bytes = bytes_left(&sections.of[DWARF_INFO]);
	dwarf_reader_deinit(&reader);
	dwarf_file_deinit(&file);
	arena_deinit(&arena);
	return spent;
}

int main(int argc, char **argv)
{
	const size_t wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 3000;
	CLEANUP(elf_file_cleanup) struct elf_file *image = argc > 1 ? open_image(argv[1]) : NULL;
	CLEANUP(free_ptr) uint64_t *vaddrs = xcalloc(wanted, sizeof(*vaddrs));
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct sharing sharing = {0};
	double start_cpu_s;
	size_t count, units, calls;
	uint64_t bytes;
	double start;

	if (argc > 3)
		sharing.threads = (unsigned)strtoul(argv[3], NULL, 10);
	if (!image || !wanted || sharing.threads > THREADS_MAX)
		return 1;
	start = now_s();
	dwarf = dwarf_new(image, NULL);
	if (!dwarf)
		return 1;
	printf("open      %7.1f ms, peak %.0f MB resident\n", (now_s() - start) * 1e3,
	       resident_peak_mb());
	count = spread_addresses(image, dwarf, vaddrs, wanted);
	if (sharing.threads)
		dwarf_share_units(dwarf, &(struct dwarf_sharing){PART_BYTES, share, &sharing});
	start_cpu_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
	start = now_s();
	calls = resolve_all(dwarf, vaddrs, count, &units, &bytes);
	printf("resolve   %7.1f ms: %zu addresses in %zu units of %.1f MB, %zu functions, peak "
	       "%.0f "
	       "MB resident\n",
	       (now_s() - start) * 1e3, count, units, (double)bytes / 1e6, calls,
	       resident_peak_mb());
	start_cpu_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - start_cpu_s;
	printf("          %7.1f ms of CPU time, the longest way %.1f ms\n", start_cpu_s * 1e3,
	       (start_cpu_s - sharing.shared_s + sharing.busiest_s) * 1e3);
	start = scan_all_s(image, &bytes);
	printf("scan      %7.1f ms: %.1f MB, %.0f MB/s\n", start * 1e3, (double)bytes / 1e6,
	       (double)bytes / 1e6 / start);
	return 0;
}
