#include "record/fresh_maps.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/effort.h"
#include "proc/maps.h"

enum {
	COST_SHARE = 20, /* reading takes at most 1/20 of the time */
	IN_VAIN_MS = 10,
	IN_VAIN_MAX_MS = 320,
	TEXT_BYTES_MAX = 1 << 20,
	FRESH_MAPS_PROCESSES_MAX = 64 << 10, /* untrusted records can contain any number */
};

/* Limit per second for all processes. */
#define SHARE_MAX_NS (50 * NS_PER_MS)

/* Programs map nothing below, and no architecture has user memory above. */
#define PC_MIN 4096
#define PC_MAX (UINT64_C(1) << 56)

void fresh_maps_deinit(struct fresh_maps *fresh)
{
	idmap_deinit(&fresh->due_ms);
	idmap_deinit(&fresh->pauses_ms);
}

static uint32_t since_start_ms(const struct fresh_maps *fresh, uint64_t time_ns)
{
	return (uint32_t)((time_ns - fresh->start_ns) / NS_PER_MS);
}

static bool is_due(struct fresh_maps *fresh, pid_t pid, uint64_t now_ns)
{
	uint32_t due_ms = idmap_get(&fresh->due_ms, (uint64_t)pid, 0);

	return (due_ms == IDMAP_NONE || since_start_ms(fresh, now_ns) >= due_ms) &&
	       time_share_is_left(&fresh->share, now_ns, SHARE_MAX_NS);
}

static uint64_t pause_in_vain_ns(struct fresh_maps *fresh, pid_t pid)
{
	uint32_t *pause_ms = idmap_put(&fresh->pauses_ms, (uint64_t)pid, 0);

	if (*pause_ms == IDMAP_NONE || fresh->inside)
		*pause_ms = IN_VAIN_MS;
	else if (*pause_ms < IN_VAIN_MAX_MS)
		*pause_ms *= 2;
	return *pause_ms * NS_PER_MS;
}

static void set_due(struct fresh_maps *fresh, pid_t pid, uint64_t cost_ns, uint64_t now_ns,
		    bool is_found)
{
	uint64_t pause_ns = COST_SHARE * cost_ns;

	if (pause_ns > NS_PER_SECOND)
		pause_ns = NS_PER_SECOND;
	if (fresh->due_ms.count > FRESH_MAPS_PROCESSES_MAX)
		fresh_maps_deinit(fresh);
	if (is_found) {
		idmap_remove(&fresh->pauses_ms, (uint64_t)pid, 0);
	} else {
		uint64_t in_vain_ns = pause_in_vain_ns(fresh, pid);

		pause_ns = in_vain_ns > pause_ns ? in_vain_ns : pause_ns;
	}
	*idmap_put(&fresh->due_ms, (uint64_t)pid, 0) = since_start_ms(fresh, now_ns + pause_ns) + 1;
}

static char *fresh_maps_load(const struct fresh_maps *fresh, pid_t pid, size_t *len)
{
	return fresh->inside ? inside_source_load_maps(fresh->inside, pid, len)
			     : maps_load_some("/proc", pid, TEXT_BYTES_MAX, len);
}

bool fresh_maps_find(struct fresh_maps *fresh, pid_t pid, uint64_t time_ns, uint64_t pc)
{
	uint64_t begin_ns, cost_ns;
	struct effort effort;
	CLEANUP(free_ptr) char *text = NULL;
	struct location location;
	size_t len;
	bool is_found;

	if (pc < PC_MIN || pc >= PC_MAX)
		return false;
	begin_ns = clock_now_ns();
	if (!fresh->start_ns)
		fresh->start_ns = begin_ns;
	if (!is_due(fresh, pid, begin_ns))
		return false;
	effort = effort_start();
	text = fresh_maps_load(fresh, pid, &len);
	address_spaces_add_maps(fresh->spaces, pid, time_ns, bytes_of(text, text ? len : 0));
	is_found = address_spaces_locate(fresh->spaces, pid, time_ns, pc, &location);
	cost_ns = effort_ns(&effort);
	time_share_spend(&fresh->share, cost_ns);
	set_due(fresh, pid, cost_ns, clock_now_ns(), is_found);
	return is_found;
}
