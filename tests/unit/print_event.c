/*
 * print_event EVENT…: prints the attributes that each event is opened with, one
 * line for each kind of CPU, as "name=value" for those that are not 0, or the
 * error.
 */
#include "perf/attr.h"

#include <inttypes.h>
#include <stdio.h>

static void print_member(const char *name, uint64_t value)
{
	if (value)
		printf("%s=0x%" PRIx64 " ", name, value);
}

static void print_variant(const struct event *event, size_t variant)
{
	static const struct attr_features features;
	struct event with_rate = *event;
	struct perf_event_attr attr;

	if (!event->period && !event->frequency_hz)
		with_rate.frequency_hz = 4000;
	attr_samples(&attr, &with_rate, &features);
	attr_choose_variant(&attr, event, variant);
	print_member("type", attr.type);
	print_member("config", attr.config);
	print_member("config1", attr.config1);
	print_member("config2", attr.config2);
	print_member("sample", attr.sample_period);
	print_member("freq", attr.freq);
	print_member("exclude_user", attr.exclude_user);
	print_member("exclude_kernel", attr.exclude_kernel);
	print_member("exclude_hv", attr.exclude_hv);
	print_member("exclude_host", attr.exclude_host);
	print_member("precise_ip", attr.precise_ip);
	puts("");
}

int main(int argc, char **argv)
{
	struct pmus pmus;

	pmus_read(NULL, &pmus);
	for (int i = 1; i < argc; i++) {
		struct event event;
		CLEANUP(error_cleanup) struct error *err = event_parse(argv[i], &pmus, &event);

		if (err) {
			printf("error: %s\n", error_text(err));
			continue;
		}
		for (size_t variant = 0; variant < event_variant_count(&event); variant++)
			print_variant(&event, variant);
		event_deinit(&event);
	}
	pmus_deinit(&pmus);
	return 0;
}
