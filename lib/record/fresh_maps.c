#include "record/fresh_maps.h"

#include "base/clock.h"

enum {
	INTERVAL_MS = 100,
	PROCESSES_MAX = 64 << 10, /* records can claim any */
};

void fresh_maps_deinit(struct fresh_maps *fresh)
{
	idmap_deinit(&fresh->read_ms);
}

static bool is_due(struct fresh_maps *fresh, pid_t pid)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t now_ms, *read_ms;

	if (!fresh->start_ns)
		fresh->start_ns = now_ns;
	if (fresh->read_ms.count > PROCESSES_MAX)
		idmap_deinit(&fresh->read_ms);
	now_ms = (uint32_t)((now_ns - fresh->start_ns) / NS_PER_MS);
	read_ms = idmap_put(&fresh->read_ms, (uint64_t)pid, 0);
	if (*read_ms != IDMAP_NONE && now_ms - *read_ms < INTERVAL_MS)
		return false;
	*read_ms = now_ms;
	return true;
}

void fresh_maps_feed(struct fresh_maps *fresh, struct address_spaces *spaces,
		     const struct record *record)
{
	struct location location;

	if ((record->type != RECORD_SAMPLE && record->type != RECORD_ALLOC) ||
	    address_spaces_locate(spaces, record->pid, record->time_ns, record->sample.ip,
				  &location) ||
	    !is_due(fresh, record->pid))
		return;
	address_spaces_snapshot(spaces, record->pid, record->time_ns);
}
