/*
 * Writes rows for databases: newline-delimited JSON, which DuckDB's read_json()
 * and ClickHouse's JSONEachRow read without a schema. There is one object per
 * (second, thread and labels, event, stack):
 *
 *	{"time":"2026-11-24T14:05:00Z","host":"web1","event":"cpu","unit":"nanoseconds",
 *	 "samples":1,"value":52631578,"process":"shop","pid":12,"thread":"worker","tid":13,
 *	 "labels":{"cgroup":"/shop.service","env":"prod"},"stack":["main","serve","parse"]}
 *
 * on one line. Events have the names of pprof files: "cpu" for any CPU clock.
 * The stack starts with its root and includes inlined functions. Samples of one
 * second whose stacks have the same names are one row. A sample without a time,
 * and weight without a known time, have the time at which the profile starts,
 * or null if that is unknown. A wait belongs to the second in which it ended.
 * Thus the values add up exactly to the profile's.
 *
 * Databases infer columns from the first rows (DuckDB from 20,480) and ignore
 * other keys and types in later rows. Therefore all rows have the same keys:
 * unknown values are "" or -1, and labels are as in labels.h.
 *
 * Memory grows with the distinct stacks of the profile and the samples of a
 * second, not with the number of rows. Source:
 * https://github.com/ndjson/ndjson-spec.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/chunk_writer.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/gzip.h"
#include "base/json.h"
#include "format/ndjson/labels.h"
#include "format/pprof/sample_type.h"
#include "format/stack_text.h"
#include "report/display_labels.h"
#include "report/process_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ndjson_row {
	stack_id stack;
	label_set_id labels;
	event_id event;
	uint64_t samples, weight;
};

/* The part of an aggregated sample that has been written. */
struct given {
	uint64_t samples, weight;
};

struct ndjson_rows {
	const struct profile *profile;
	const struct format_options *options;
	struct chunk_writer *out;
	bool is_fine; /* no write has failed yet */
	struct display_labels names;
	struct stack_text stacks;
	stack_id *same; /* by stack: the first one with the same names */
	char **labels;	/* by label set: its members */
	char **events;	/* by event: the members that all of its rows have */
	struct given *given;
	uint64_t second; /* of the rows below, since 1970 */
	struct ndjson_row *items;
	size_t count, room;
};

/* ---- Stacks ---- */

static const char *ndjson_name_of(const struct display_labels *names, uint32_t line)
{
	const char *shown = names->items[names->lines[line].label].shown;

	return *shown ? shown : "[unnamed]";
}

/* Writes the text of a frame in a stack: ,"main","inlined" */
static void ndjson_put_frame(FILE *out, const void *context, frame_id frame)
{
	const struct display_labels *names = context;
	struct json json = {.out = out, .follows = true};

	for (uint32_t i = names->first_line[frame]; i < names->first_line[frame + 1]; i++)
		json_text(&json, ndjson_name_of(names, i));
}

/* Builds a trie of names. */
static stack_id *ndjson_find_same(const struct profile *profile, const struct display_labels *names)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	CLEANUP(strtab_cleanup) struct strtab *texts = strtab_new();
	CLEANUP(free_ptr) uint32_t *node_of = xcalloc(stacks.count, sizeof(*node_of));
	stack_id *same = xcalloc(stacks.count, sizeof(*same));
	struct idmap children = {0}, first = {0};
	uint32_t nodes = 1;

	for (stack_id i = 1; i < stacks.count; i++) {
		frame_id frame = stacks.items[i].frame;
		uint32_t node = node_of[stacks.items[i].parent], *found;

		for (uint32_t at = names->first_line[frame]; at < names->first_line[frame + 1];
		     at++) {
			found = idmap_put(&children, node,
					  strtab_add(texts, ndjson_name_of(names, at)));
			if (*found == IDMAP_NONE)
				*found = nodes++;
			node = *found;
		}
		node_of[i] = node;
		found = idmap_put(&first, node, 0);
		if (*found == IDMAP_NONE)
			*found = i;
		same[i] = *found;
	}
	idmap_deinit(&children);
	idmap_deinit(&first);
	return same;
}

/* ---- Members that many rows share ---- */

static const char *host_of(const struct ndjson_rows *rows)
{
	const char *host = profile_get_info(rows->profile)->host;

	for (size_t i = 0; i < rows->options->rows.label_count; i++)
		if (!strcmp(rows->options->rows.labels[i].key, FORMAT_LABEL_HOST))
			return rows->options->rows.labels[i].text;
	return host ? host : "";
}

/* Removes the braces of an object. The caller frees the result. */
static char *without_braces(char *text, size_t len)
{
	char *members = xstrndup(text + 1, len - 2);

	free(text);
	return members;
}

static char *members_of_event(const struct ndjson_rows *rows, event_id event)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct json json = json_to(out);

	json_begin_object(&json);
	json_put_text(&json, "host", host_of(rows));
	json_put_text(&json, "event", pprof_type_name(rows->profile, event));
	json_put_text(&json, "unit", profile_event_unit(rows->profile, event));
	json_end_object(&json);
	fclose(out);
	return without_braces(text, len);
}

static char *members_of_labels(const struct ndjson_rows *rows, const struct ndjson_labels *labels,
			       label_set_id id)
{
	const struct profile *profile = rows->profile;
	const struct profile_thread *thread = profile_thread_of(profile, id);
	const char *process = process_name(profile, thread);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct json json = json_to(out);

	json_begin_object(&json);
	json_put_text(&json, "process", process ? process : "");
	json_key(&json, "pid");
	json_signed(&json, thread->pid);
	json_put_text(&json, "thread", profile_string(profile, thread->name));
	json_key(&json, "tid");
	json_signed(&json, thread->tid);
	json_key(&json, "labels");
	ndjson_labels_put(labels, profile, id, &json);
	json_end_object(&json);
	fclose(out);
	return without_braces(text, len);
}

static struct error *make_members(struct ndjson_rows *rows)
{
	uint32_t label_sets = profile_label_set_count(rows->profile);
	uint32_t events = profile_event_count(rows->profile);
	CLEANUP(ndjson_labels_deinit) struct ndjson_labels labels = {0};
	struct error *err = ndjson_labels_init(&labels, rows->profile, &rows->options->rows);

	if (err)
		return err;
	rows->labels = xcalloc(label_sets, sizeof(*rows->labels));
	for (label_set_id i = 0; i < label_sets; i++)
		rows->labels[i] = members_of_labels(rows, &labels, i);
	rows->events = xcalloc(events, sizeof(*rows->events));
	for (event_id i = 0; i < events; i++)
		rows->events[i] = members_of_event(rows, i);
	return NULL;
}

/* ---- Rows ---- */

static void ndjson_put(struct ndjson_rows *rows, const char *text, size_t len)
{
	rows->is_fine = chunk_writer_put(rows->out, text, len) && rows->is_fine;
}

static void ndjson_put_string(struct ndjson_rows *rows, const char *text)
{
	ndjson_put(rows, text, strlen(text));
}

static void ndjson_put_number(struct ndjson_rows *rows, const char *key, uint64_t number)
{
	char text[DIGITS_MAX], *end = text + sizeof(text), *first = digits_before(end, number);

	ndjson_put_string(rows, key);
	ndjson_put(rows, first, (size_t)(end - first));
}

/* time: JSON. */
static void ndjson_put_row(struct ndjson_rows *rows, const char *time, const struct ndjson_row *row)
{
	size_t len;
	const char *stack = stack_text_of(&rows->stacks, row->stack, &len);

	ndjson_put_string(rows, "{\"time\":");
	ndjson_put_string(rows, time);
	ndjson_put_string(rows, ",");
	ndjson_put_string(rows, rows->events[row->event]);
	ndjson_put_number(rows, ",\"samples\":", row->samples);
	ndjson_put_number(rows, ",\"value\":", row->weight);
	ndjson_put_string(rows, ",");
	ndjson_put_string(rows, rows->labels[row->labels]);
	ndjson_put_string(rows, ",\"stack\":[");
	if (len)
		ndjson_put(rows, stack + 1, len - 1); /* without the first comma */
	ndjson_put_string(rows, "]}\n");
}

/*
 * Makes equal stacks adjacent, and stacks of equal callers close to each other.
 */
static int ndjson_compare(const void *a, const void *b)
{
	const struct ndjson_row *left = a, *right = b;

	if (left->stack != right->stack)
		return left->stack < right->stack ? -1 : 1;
	if (left->labels != right->labels)
		return left->labels < right->labels ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

static void ndjson_put_rows(struct ndjson_rows *rows)
{
	time_t seconds = (time_t)rows->second;
	char text[40] = "null";
	struct tm utc;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), ndjson_compare);
	if (seconds && gmtime_r(&seconds, &utc))
		strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &utc);
	for (size_t i = 0, next; i < rows->count && rows->is_fine; i = next) {
		struct ndjson_row *row = &rows->items[i];

		for (next = i + 1; next < rows->count && !ndjson_compare(row, &rows->items[next]);
		     next++) {
			row->samples += rows->items[next].samples;
			row->weight += rows->items[next].weight;
		}
		ndjson_put_row(rows, text, row);
	}
	rows->count = 0;
}

static void ndjson_add(struct ndjson_rows *rows, uint32_t index, uint64_t samples, uint64_t weight)
{
	const struct profile_sample *sample = &profile_samples(rows->profile).items[index];

	rows->given[index].samples += samples;
	rows->given[index].weight += weight;
	if ((!samples && !weight) ||
	    (rows->options->event_only && sample->event != rows->options->event))
		return;
	GROW(rows->items, rows->count, rows->room);
	rows->items[rows->count++] = (struct ndjson_row){.stack = rows->same[sample->stack],
							 .labels = sample->labels,
							 .event = sample->event,
							 .samples = samples,
							 .weight = weight};
}

/*
 * A sample that is late by microseconds belongs to the second that has started.
 */
static void begin_second(struct ndjson_rows *rows, uint64_t time_ns)
{
	const struct profile_info *info = profile_get_info(rows->profile);
	uint64_t since_ns = time_ns > info->start_ns ? time_ns - info->start_ns : 0;
	uint64_t second = (info->start_unix_ns + since_ns) / NS_PER_SECOND;

	if (!info->start_unix_ns || second <= rows->second)
		return;
	ndjson_put_rows(rows);
	rows->second = second;
}

/*
 * The first samples get the remainder of the division, so that the whole weight
 * is distributed.
 */
static void add_timed_sample(struct ndjson_rows *rows, const struct profile_timed_sample *timed)
{
	const struct profile_sample *sample = &profile_samples(rows->profile).items[timed->sample];
	uint64_t before = rows->given[timed->sample].samples;

	if (before >= sample->samples)
		return;
	begin_second(rows, timed->time_ns);
	ndjson_add(rows, timed->sample, 1,
		   sample->weight / sample->samples + (before < sample->weight % sample->samples));
}

/* A block of memory has no single time. */
static void add_interval(struct ndjson_rows *rows, const struct profile_interval *interval)
{
	const struct profile_sample *sample =
		&profile_samples(rows->profile).items[interval->sample];
	uint64_t left = sample->weight - rows->given[interval->sample].weight;

	if (profile_get_event(rows->profile, sample->event)->kind == VALUE_BYTES)
		return;
	begin_second(rows, interval->end_ns);
	ndjson_add(rows, interval->sample, rows->given[interval->sample].samples < sample->samples,
		   interval->weight < left ? interval->weight : left);
}

static void put_timeline(struct ndjson_rows *rows)
{
	const struct profile_timed_samples timed = profile_timed_samples(rows->profile);
	const struct profile_intervals intervals = profile_intervals(rows->profile);
	uint64_t wait = 0;

	for (uint64_t i = 0; i < timed.count; i++) {
		for (; wait < intervals.count &&
		       intervals.items[wait].end_ns <= timed.items[i].time_ns;
		     wait++)
			add_interval(rows, &intervals.items[wait]);
		add_timed_sample(rows, &timed.items[i]);
	}
	for (; wait < intervals.count; wait++)
		add_interval(rows, &intervals.items[wait]);
	ndjson_put_rows(rows);
}

static void ndjson_put_rest(struct ndjson_rows *rows)
{
	const struct profile_samples samples = profile_samples(rows->profile);

	rows->second = profile_get_info(rows->profile)->start_unix_ns / NS_PER_SECOND;
	for (uint32_t i = 0; i < samples.count; i++)
		ndjson_add(rows, i, samples.items[i].samples - rows->given[i].samples,
			   samples.items[i].weight - rows->given[i].weight);
	ndjson_put_rows(rows);
}

static void ndjson_free_texts(char **texts, uint32_t count)
{
	for (uint32_t i = 0; texts && i < count; i++)
		free(texts[i]);
	free(texts);
}

static void ndjson_rows_deinit(struct ndjson_rows *rows)
{
	ndjson_free_texts(rows->labels, profile_label_set_count(rows->profile));
	ndjson_free_texts(rows->events, profile_event_count(rows->profile));
	stack_text_deinit(&rows->stacks);
	display_labels_deinit(&rows->names);
	free(rows->same);
	free(rows->given);
	free(rows->items);
}

static struct error *ndjson_write(const struct profile *profile,
				  const struct format_options *options, FILE *out)
{
	CLEANUP(ndjson_rows_deinit)
	struct ndjson_rows rows = {.profile = profile, .options = options, .is_fine = true};
	struct error *err = make_members(&rows);

	if (err)
		return err;
	display_labels_init_named(&rows.names, profile, options->names);
	stack_text_init(&rows.stacks, profile, ROOT_FIRST, ndjson_put_frame, &rows.names);
	rows.same = ndjson_find_same(profile, &rows.names);
	rows.given = xcalloc(profile_samples(profile).count, sizeof(*rows.given));
	rows.out = chunk_writer_new(out, NULL);
	put_timeline(&rows);
	ndjson_put_rest(&rows);
	if (!chunk_writer_finish(rows.out) || fflush(out) || ferror(out))
		return error_errno(errno, "write rows");
	return NULL;
}

static struct error *ndjson_gz_write(const struct profile *profile,
				     const struct format_options *options, FILE *out)
{
	FILE *gzip = gzip_writer(out);
	struct error *err;

	if (!gzip)
		return error_errno(errno, "compress rows");
	err = ndjson_write(profile, options, gzip);
	if ((fclose(gzip) || fflush(out) || ferror(out)) && !err)
		err = error_errno(errno, "write rows");
	return err;
}

const struct format format_ndjson = {
	.name = "ndjson",
	.extensions = (const char *const[]){".ndjson", ".jsonl", NULL},
	.summary = "a row per second, thread and stack, for databases",
	.viewer = "duckdb -c \"SELECT * FROM 'FILE'\"",
	.needs_timestamps = true,
	.is_rows = true,
	.write = ndjson_write,
};

const struct format format_ndjson_gz = {
	.name = "ndjson.gz",
	.extensions = (const char *const[]){".ndjson.gz", ".jsonl.gz", NULL},
	.summary = "ndjson, compressed",
	.viewer = "duckdb -c \"SELECT * FROM 'FILE'\"",
	.binary = true,
	.needs_timestamps = true,
	.is_rows = true,
	.write = ndjson_gz_write,
};
