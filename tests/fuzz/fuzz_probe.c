/*
 * Fuzzes probes in the user's notation, notes of static probes, the dynamic
 * linker's cache, and the answers of confined processes. The first byte
 * chooses.
 */
#include "base/alloc.h"
#include "perf/kernel_types.h"
#include "probe/library_cache.h"
#include "probe/places.h"
#include "probe/spec.h"
#include "probe/static_probes.h"

#include <stddef.h>
#include <stdint.h>

static void fuzz_spec(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *text = xstrndup((const char *)data, size);
	CLEANUP(probe_spec_deinit) struct probe_spec spec = {0};
	CLEANUP(error_cleanup) struct error *err = probe_spec_parse(text, &spec);

	if (probe_spec_len(text) > strlen(text))
		__builtin_trap();
	if (!err && spec.place != PROBE_BY_LINE && !spec.function && !spec.offset &&
	    spec.place != PROBE_BY_ADDRESS)
		__builtin_trap();
}

static void fuzz_notes(struct bytes notes, bool is_32)
{
	struct static_probe probe;

	while (static_probe_next(&notes, is_32, 0x1000, &probe))
		if (bytes_begin(probe.name, "x") && bytes_begin(probe.provider, "y"))
			return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = bytes_of(data, size);
	struct probe_places places;
	uint32_t offset;

	switch (bytes_u8(&bytes)) {
	case 's':
		fuzz_spec(bytes.at, bytes_left(&bytes));
		break;
	case 'n':
	case '3':
		fuzz_notes(bytes, data[0] == '3');
		break;
	case 'c':
		library_cache_find(bytes, "libc");
		break;
	case 'b':
		kernel_types_member(bytes, "task_struct", "tgid", &offset);
		break;
	case 'p':
		if (probe_places_read(bytes, &places))
			probe_places_deinit(&places);
		break;
	default:
		break;
	}
	return 0;
}
