/* Fuzzes the quality of a recording in a comment of a pprof file. Values that
 * were read are written and read again. */
#include "profile/quality.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

static void repeat_waiting(const struct waiting_quality *waiting)
{
	CLEANUP(free_ptr) char *text = quality_encode_waiting(waiting);
	struct waiting_quality again = {0};

	assert(quality_decode_waiting(text, &again));
	assert(!memcmp(&again, waiting, sizeof(again)));
}

static void repeat_stat(const struct stat_counts *stat)
{
	CLEANUP(free_ptr) char *text = stat_counts_encode(stat);
	struct stat_counts again = {0};

	if (!stat_counts_exist(stat))
		return;
	assert(stat_counts_decode(text, &again));
	assert(!memcmp(again.values, stat->values, sizeof(again.values)));
}

static void repeat_event(const struct event_quality *event)
{
	CLEANUP(free_ptr) char *text = quality_encode_event(event);
	struct event_quality again = {0};

	assert(quality_decode_event(text, &again));
	assert(!strcmp(again.event, event->event) && again.samples == event->samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *text = xstrndup((const char *)data, size);
	struct profile_quality quality = {0};
	struct event_quality event = {0};
	struct waiting_quality waiting = {0};
	struct stat_counts stat = {0};

	quality_decode(text, &quality);
	if (quality_decode_event(text, &event))
		repeat_event(&event);
	if (quality_decode_waiting(text, &waiting))
		repeat_waiting(&waiting);
	if (stat_counts_decode(text, &stat))
		repeat_stat(&stat);
	return 0;
}
