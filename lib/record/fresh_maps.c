#include "record/fresh_maps.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

enum {
	COST_SHARE = 20, /* of the time may be taken: 5 % */
	IN_VAIN_MS = 10,
	PROCESSES_MAX = 64 << 10, /* records can claim any */
};

void fresh_maps_deinit(struct fresh_maps *fresh)
{
	idmap_deinit(&fresh->due_ms);
}

static uint32_t since_start_ms(const struct fresh_maps *fresh, uint64_t time_ns)
{
	return (uint32_t)((time_ns - fresh->start_ns) / NS_PER_MS);
}

static bool is_due(const struct fresh_maps *fresh, pid_t pid, uint64_t now_ns)
{
	uint32_t due_ms = idmap_get(&fresh->due_ms, (uint64_t)pid, 0);

	return due_ms == IDMAP_NONE || since_start_ms(fresh, now_ns) >= due_ms;
}

static void set_due(struct fresh_maps *fresh, pid_t pid, uint64_t due_ns)
{
	if (fresh->due_ms.count > PROCESSES_MAX)
		idmap_deinit(&fresh->due_ms);
	*idmap_put(&fresh->due_ms, (uint64_t)pid, 0) = since_start_ms(fresh, due_ns) + 1;
}

bool fresh_maps_find(struct fresh_maps *fresh, pid_t pid, uint64_t time_ns, uint64_t pc)
{
	uint64_t begin_ns = clock_now_ns(), end_ns;
	CLEANUP(free_ptr) char *text = NULL;
	struct location location;
	size_t len;
	bool is_found;

	if (!fresh->start_ns)
		fresh->start_ns = begin_ns;
	if (!is_due(fresh, pid, begin_ns))
		return false;
	text = inside_source_load_maps(fresh->inside, pid, &len);
	address_spaces_add_maps(fresh->spaces, pid, time_ns, bytes_of(text, text ? len : 0));
	is_found = address_spaces_locate(fresh->spaces, pid, time_ns, pc, &location);
	end_ns = clock_now_ns();
	set_due(fresh, pid,
		end_ns + (is_found ? COST_SHARE * (end_ns - begin_ns) : IN_VAIN_MS * NS_PER_MS));
	return is_found;
}
