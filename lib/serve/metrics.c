#include "serve/metrics.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct metric {
	const char *name, *labels; /* labels with their braces, or "" */
	/*
	 * NULL for the type and help of the previous entry, which has the same
	 * name.
	 */
	const char *type, *help;
	double value;
};

static void metrics_print(FILE *out, const struct metric *metric)
{
	if (metric->type)
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
			metric->name, metric->type);
	fprintf(out, "%s%s %.15g\n", metric->name, metric->labels, metric->value);
}

static double resident_bytes(void)
{
	CLEANUP(close_file) FILE *in = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!in || fscanf(in, "%*u %lu", &pages) != 1)
		return 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void print_all(FILE *out, const struct metrics *metrics)
{
#define REFUSED "prof_serve_refused_requests_total"
#define RECORDINGS "prof_serve_recordings_total"
	const uint64_t *refused = metrics->refused;
	const struct metric all[] = {
		{"prof_serve_requests_total", "", "counter", "Requests that were read.",
		 (double)metrics->requests},
		{REFUSED, "{reason=\"method\"}", "counter", "Requests that were refused.",
		 (double)refused[GATE_METHOD]},
		{REFUSED, "{reason=\"body\"}", NULL, NULL, (double)refused[GATE_BODY]},
		{REFUSED, "{reason=\"host\"}", NULL, NULL, (double)refused[GATE_HOST]},
		{REFUSED, "{reason=\"origin\"}", NULL, NULL, (double)refused[GATE_ORIGIN]},
		{REFUSED, "{reason=\"token\"}", NULL, NULL, (double)refused[GATE_TOKEN]},
		{REFUSED, "{reason=\"user\"}", NULL, NULL, (double)refused[GATE_USER]},
		{REFUSED, "{reason=\"target\"}", NULL, NULL, (double)metrics->wrong},
		{REFUSED, "{reason=\"busy\"}", NULL, NULL, (double)metrics->busy},
		{RECORDINGS, "{result=\"whole\"}", "counter", "Recordings that have ended.",
		 (double)metrics->whole},
		{RECORDINGS, "{result=\"failed\"}", NULL, NULL, (double)metrics->failed},
		{RECORDINGS, "{result=\"cancelled\"}", NULL, NULL, (double)metrics->cancelled},
		{"prof_serve_recordings_running", "", "gauge", "Recordings in progress.",
		 metrics->is_recording},
		{"prof_serve_samples_total", "", "counter", "Samples in complete recordings.",
		 (double)metrics->samples},
		{"prof_serve_lost_samples_total", "", "counter",
		 "Lost samples of complete recordings.", (double)metrics->lost},
		{"prof_serve_recording_cpu_seconds_total", "", "counter",
		 "CPU time of recordings that have ended.",
		 (double)metrics->recording_cpu_ns / 1e9},
		{"prof_serve_connections", "", "gauge", "Open connections.",
		 (double)metrics->http.connections},
		{"prof_serve_connections_total", "", "counter", "Connections so far.",
		 (double)metrics->http.all_connections},
		{"prof_serve_slow_connections_total", "", "counter",
		 "Connections that were closed because they took too long.",
		 (double)metrics->http.slow},
		{"process_cpu_seconds_total", "", "counter", "CPU time of the server itself.",
		 (double)clock_own_cpu_ns() / 1e9},
		{"process_resident_memory_bytes", "", "gauge", "Resident memory of the server.",
		 resident_bytes()},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		metrics_print(out, &all[i]);
}

char *metrics_text(const struct metrics *metrics)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print_all(out, metrics);
	fclose(out);
	return text;
}
