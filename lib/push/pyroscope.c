#include "base/alloc.h"
#include "profile/part.h"
#include "push/protocol.h"

#include <stdlib.h>
#include <string.h>

/* Fields of push.v1.PushRequest, RawProfileSeries and RawSample, and of
 * types.v1.LabelPair. */
enum { PUSH_SERIES = 1 };
enum { SERIES_LABEL = 1, SERIES_SAMPLE };
enum { SAMPLE_PROFILE = 1 };
enum { LABEL_NAME = 1, LABEL_VALUE };

static void pyroscope_put_labels(const struct push_labels *labels, struct wire_message *series)
{
	struct wire_message label = {0};

	for (size_t i = 0; i < labels->count; i++) {
		const struct push_label *item = &labels->items[i];

		label.len = 0;
		wire_put_bytes(&label, LABEL_NAME, item->key, strlen(item->key));
		wire_put_bytes(&label, LABEL_VALUE, item->text, strlen(item->text));
		wire_put_message(series, SERIES_LABEL, &label);
	}
	free(label.bytes);
}

static label_set_id labels_of_series(void *user, const struct profile_sample *sample)
{
	struct profile *profile = user;
	const struct profile_label_set *set = profile_get_label_set(profile, sample->labels);
	CLEANUP(free_ptr) struct profile_label *labels = xcalloc(set->count, sizeof(*labels));
	struct profile_thread process = {
		.pid = -1,
		.tid = -1,
		.process = profile_thread_of(profile, sample->labels)->process};
	uint32_t count = 0;

	for (uint32_t i = 0; i < set->count; i++)
		if (strcmp(profile_string(profile, set->labels[i].key), CGROUP_LABEL) != 0)
			labels[count++] = set->labels[i];
	return profile_label_set(profile, &process, labels, count);
}

/*
 * Pyroscope creates a series for each distinct label set of samples
 * (pkg/model/pprofsplit), and should have few of them. So samples keep only the
 * names of their process and of its container or service. They lose thread,
 * pid, tid and cgroup path.
 */
static struct profile *with_few_labels(const struct profile *profile)
{
	struct profile *copy = profile_part(profile, 0, profile_samples(profile).count);

	profile_relabel(copy, labels_of_series, copy);
	return copy;
}

static struct error *pyroscope_encode(const struct profile *profile,
				      const struct push_labels *labels, struct wire_message *body)
{
	CLEANUP(push_labels_deinit) struct push_labels of_series = {0};
	CLEANUP(profile_cleanup) struct profile *copy = with_few_labels(profile);
	CLEANUP(free_ptr) char *pprof = NULL;
	struct wire_message series = {0}, sample = {0};
	size_t len;
	struct error *err = push_pprof(copy, &pprof, &len);

	if (err)
		return err;
	push_labels_series(labels, profile, &of_series);
	pyroscope_put_labels(&of_series, &series);
	wire_put_bytes(&sample, SAMPLE_PROFILE, pprof, len);
	wire_put_message(&series, SERIES_SAMPLE, &sample);
	wire_put_message(body, PUSH_SERIES, &series);
	free(series.bytes);
	free(sample.bytes);
	return NULL;
}

const struct push_protocol push_pyroscope = {
	.name = "pyroscope",
	.path = "/push.v1.PusherService/Push",
	.headers = (const char *const[]){"Content-Type: application/proto",
					 "Connect-Protocol-Version: 1", NULL},
	.encode = pyroscope_encode,
};
