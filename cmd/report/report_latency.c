#include "base/alloc.h"
#include "base/humanize.h"
#include "cmd/report/report.h"
#include "cmd/ui/bar.h"

#include <string.h>

enum { CALLS_COLUMNS = 10, CLASS_COLUMNS = 14, BAR_COLUMNS = 40 };

static void put_quantiles(const struct latency_sums *sums, FILE *out)
{
	const struct {
		const char *name;
		double share;
	} shown[] = {{"min", 0}, {"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};

	fputs("\ncalls took", out);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		char name[LATENCY_NAME_BYTES];

		latency_class_name(latency_sums_quantile(sums, shown[i].share), name);
		fprintf(out, "%s %s %s", i ? "," : "", shown[i].name, name);
	}
	fputs("\n", out);
}

void report_latency(const struct report *report, const struct table_writer *writer)
{
	const struct latency_sums *sums = &report->latency;
	uint64_t most = 0;

	if (!sums->count)
		return;
	for (unsigned i = sums->first; i <= sums->last; i++)
		if (sums->calls[i] > most)
			most = sums->calls[i];
	put_quantiles(sums, writer->out);
	fprintf(writer->out, "\n%s%*s %s", pager_sequence(writer->pager, STYLE_HEADING),
		CALLS_COLUMNS, "calls", "  time");
	fprintf(writer->out, "%s\n", pager_sequence(writer->pager, STYLE_PLAIN));
	for (unsigned i = sums->first; i <= sums->last; i++) {
		CLEANUP(free_ptr) char *drawn = bar(sums->calls[i], most, BAR_COLUMNS);
		struct humanized calls = humanize_count(sums->calls[i]);
		char name[LATENCY_NAME_BYTES];

		latency_class_name(i, name);
		fprintf(writer->out, "%*s   %-*s %s\n", CALLS_COLUMNS, calls.text, CLASS_COLUMNS,
			name, drawn);
	}
}
