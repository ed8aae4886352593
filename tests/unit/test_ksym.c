#include "symbol/ksym.h"

#include "base/alloc.h"
#include "symbol/kallsyms.h"

#include "lacking.h"
#include "unit_test.h"

#include <stdbool.h>
#include <string.h>

enum { ADDRESSES = 1000 };

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Stores addresses in functions all over the kernel and its modules, and
 * returns their number. BPF programs come and go. */
static size_t read_addresses(uint64_t addresses[ADDRESSES])
{
	CLEANUP(close_file) FILE *file = fopen("/proc/kallsyms", "re");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0, count = 0, lines = 0;
	unsigned long address;
	char type;

	while (file && count < ADDRESSES && getline(&line, &room, file) >= 0)
		if (sscanf(line, "%lx %c", &address, &type) == 2 && (type == 't' || type == 'T') &&
		    !strstr(line, "[bpf]") && lines++ % 199 == 0)
			addresses[count++] = address + lines % 2;
	qsort(addresses, count, sizeof(*addresses), compare_addresses);
	return count;
}

TEST(names_are_those_of_kallsyms)
{
	static uint64_t addresses[ADDRESSES];
	static const char *asked[ADDRESSES], *listed[ADDRESSES];
	CLEANUP(close_file) FILE *file = fopen("/proc/kallsyms", "re");
	CLEANUP(ksym_cleanup) struct ksym *ksym = ksym_new();
	size_t count = read_addresses(addresses);
	struct arena arena = {0};
	struct error *err = file ? kallsyms_find(file, addresses, count, &arena, listed) : NULL;

	if (!count || err || !ksym || !ksym_find(ksym, addresses, count, &arena, asked)) {
		error_free(err);
		arena_deinit(&arena);
		RETURN_LACKING("no privileges, or an older kernel");
	}
	for (size_t i = 0; i < count; i++)
		if (listed[i]) /* no symbol: _etext and its kind */
			assert_string_equal(asked[i], listed[i]);
	arena_deinit(&arena);
}

TEST(an_address_outside_of_the_kernel_has_no_name)
{
	static const uint64_t addresses[] = {0, 0x1000};
	const char *names[] = {"unset", "unset"};
	CLEANUP(ksym_cleanup) struct ksym *ksym = ksym_new();
	struct arena arena = {0};

	if (!ksym || !ksym_find(ksym, addresses, ARRAY_SIZE(addresses), &arena, names))
		RETURN_LACKING("no privileges, or an older kernel");
	assert_null(names[0]);
	assert_null(names[1]);
	arena_deinit(&arena);
}
