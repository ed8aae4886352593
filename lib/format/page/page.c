/*
 * The HTML page: a static skeleton with scripts (web/page), and the profile as columns of numbers,
 * deflated, in base64. web/page/reader.js reads them in the same order. The page builds call trees
 * itself, because it filters and regroups.
 *
 * Numbers are LEB128; those that can be negative are zigzag-encoded: 0, -1, 1, -2, …
 */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/gzip.h"
#include "base/idmap.h"
#include "base/utf8.h"
#include "format/format.h"
#include "format/page/intervals.h"
#include "format/page/source.h"
#include "profile/source_users.h"
#include "report/display_labels.h"
#include "report/label_values.h"
#include "report/logical.h"
#include "report/quality_text.h"
#include "report/stat_text.h"
#include "report/waiting.h"
#include "report/waiting_place.h"
#include "web/page_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A browser has to hold all timed samples. Of more than this, only every 2nd, 3rd, … is written
 * and counts for as many.
 */
#define MOST_TIMED_SAMPLES 1000000u
/* Of more intervals than this, short ones become one. Each takes about 8 bytes, deflated. */
#define MOST_INTERVALS 300000u

/* JavaScript's numbers are exact up to 2^53; with a sign, one bit less. */
#define MOST_SIGNED ((int64_t)1 << 51)

struct page {
	const struct profile *profile;
	event_id event; /* the one that the page shows first, and has as its number 0 */
	struct display_labels labels;
	struct idmap files; /* file name → number, from 1 */
	string_id *paths;   /* file names, by number - 1 */
	uint32_t path_count, path_room;
	uint64_t *each; /* by event: the weight of its first sample, from which others are
			   differences */
	FILE *out;
};

static void put(struct page *page, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		putc_unlocked((int)(number & 0x7f) | 0x80, page->out);
	putc_unlocked((int)number, page->out);
}

static void put_signed(struct page *page, int64_t number)
{
	if (number > MOST_SIGNED)
		number = MOST_SIGNED;
	if (number < -MOST_SIGNED)
		number = -MOST_SIGNED;
	put(page, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void put_text(struct page *page, const char *text)
{
	struct arena arena = {0};
	const char *valid = utf8_valid(text ? text : "", &arena);
	size_t len = strlen(valid);

	put(page, len);
	fwrite_unlocked(valid, 1, len, page->out);
	arena_deinit(&arena);
}

/* A process or thread id; -1: unknown. */
static void put_pid(struct page *page, pid_t pid)
{
	put(page, (uint64_t)((int64_t)pid + 1));
}

static void put_string(struct page *page, string_id id)
{
	put_text(page, profile_string(page->profile, id));
}

/*
 * The start of the recording; that of the first timed sample or interval if the profile does not
 * say.
 */
static uint64_t start_ns(const struct profile *profile)
{
	uint64_t start = profile_get_info(profile)->start_ns;

	if (!start && profile_timed_samples(profile).count)
		start = profile_timed_samples(profile).items[0].time_ns;
	if (!start && profile_intervals(profile).count)
		start = profile_intervals(profile).items[0].start_ns;
	return start;
}

static int64_t since_start_us(const struct page *page, uint64_t time_ns)
{
	return (int64_t)(time_ns - start_ns(page->profile)) / 1000;
}

/* The recorded duration, extended to the last timed sample and the last interval. */
static uint64_t duration_us(const struct page *page)
{
	const struct profile_timed_samples timed = profile_timed_samples(page->profile);
	const struct profile_intervals intervals = profile_intervals(page->profile);
	int64_t duration = (int64_t)(profile_get_info(page->profile)->duration_ns / 1000);
	int64_t sample = !timed.count ? 0
				      : since_start_us(page, timed.items[timed.count - 1].time_ns);
	int64_t interval = !intervals.count
				   ? 0
				   : since_start_us(page,
						    intervals.items[intervals.count - 1].end_ns);

	if (timed.count && sample >= duration)
		duration = sample + 1;
	return (uint64_t)(intervals.count && interval >= duration ? interval + 1 : duration);
}

/* Where the time of the threads went; "": unknown. */
static void put_waiting(struct page *page)
{
	struct waiting_quality sums;
	CLEANUP(free_ptr)
	char *text = waiting_sums(page->profile, &sums) ? waiting_text(&sums) : NULL;

	put_text(page, text);
}

static void put_info(struct page *page, const struct format_options *options)
{
	const struct profile_info *info = profile_get_info(page->profile);
	CLEANUP(free_ptr) char *quality = quality_headline(info);
	CLEANUP(free_ptr) char *stat = stat_line(info);
	CLEANUP(free_ptr)
	char *headline = xasprintf("%s%s%s", quality, *quality && stat ? "; " : "",
				   stat ? stat : "");

	put_text(page, info->command);
	put_text(page, info->host);
	put_text(page, info->kernel);
	put_text(page, headline);
	put_text(page, info->remarks);
	put(page, info->start_unix_ns / 1000000);
	put(page, duration_us(page));
	put(page, options->difference);
	put(page, options->event_only);
	put_waiting(page);
}

static void find_weights_of_samples(struct page *page)
{
	const struct profile_samples samples = profile_samples(page->profile);

	page->each = xcalloc(profile_event_count(page->profile), sizeof(*page->each));
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (!page->each[sample->event] && sample->samples)
			page->each[sample->event] = sample->weight / sample->samples;
	}
}

/* Both ways: the event that is shown first changes places with event 0. */
static event_id number_of_event(const struct page *page, event_id event)
{
	if (event == 0)
		return page->event;
	return event == page->event ? 0 : event;
}

static void put_events(struct page *page)
{
	uint32_t count = profile_event_count(page->profile);

	put(page, count);
	for (event_id number = 0; number < count; number++) {
		event_id i = number_of_event(page, number);
		const struct profile_event *event = profile_get_event(page->profile, i);

		put_string(page, event->name);
		put_text(page, profile_event_unit(page->profile, i));
		put(page, event->kind);
		put(page, value_scaled(event->kind, profile_event_unit(page->profile, i), 1));
		put(page, event->one_value);
		put(page, event->period);
		put(page, event->frequency_hz);
		put(page, page->each[i]);
	}
}

/* PROFILE_SYNTHETIC is the last module. */
static void put_modules(struct page *page)
{
	uint32_t count = profile_module_count(page->profile);

	put(page, count + 1);
	for (uint32_t i = 0; i <= count; i++) {
		const struct profile_module *module =
			profile_get_module(page->profile, i < count ? i : PROFILE_SYNTHETIC);

		put_string(page, module->path);
		put(page, module->kind);
	}
}

static uint32_t number_of_file(struct page *page, string_id path)
{
	uint32_t *number;

	if (!path)
		return 0;
	number = idmap_put(&page->files, path, 0);
	if (*number == IDMAP_NONE) {
		GROW(page->paths, page->path_count, page->path_room);
		page->paths[page->path_count++] = path;
		*number = page->path_count;
	}
	return *number;
}

static void put_files(struct page *page)
{
	for (uint32_t i = 0; i < page->labels.count; i++)
		number_of_file(page, page->labels.items[i].file);
	put(page, page->path_count + 1);
	put_text(page, "");
	for (uint32_t i = 0; i < page->path_count; i++)
		put_string(page, page->paths[i]);
}

/* What the page shows of a label; that of a row of a runtime is its name. */
static uint64_t flags_of(const struct page *page, const struct fates *fates, uint32_t label)
{
	if (label >= page->labels.count)
		return RANK_NATIVE << 1;
	return page->labels.items[label].is_address |
	       (uint64_t)waiting_rank_of(&page->labels, label) << 1 |
	       (uint64_t)fates->items[label].fate << 4;
}

/* The rows of runtimes in the logical view are the last labels. */
static void put_labels(struct page *page)
{
	const struct label *labels = page->labels.items;
	uint32_t count = page->labels.count, modules = profile_module_count(page->profile), all;
	CLEANUP(fates_deinit) struct fates fates;

	fates_init(&fates, &page->labels);
	all = count + fates.runtime_count;
	put(page, all);
	for (uint32_t i = 0; i < all; i++)
		put_text(page, i < count ? labels[i].name : fates.runtimes[i - count].name);
	/* The names to show at first; "": the same. */
	for (uint32_t i = 0; i < all; i++)
		put_text(page, i < count && strcmp(labels[i].shown, labels[i].name) != 0
				       ? labels[i].shown
				       : "");
	for (uint32_t i = 0; i < all; i++) {
		uint32_t module = i < count ? labels[i].module : fates.runtimes[i - count].module;

		put(page, module < modules ? module : modules);
	}
	for (uint32_t i = 0; i < all; i++)
		put(page, i < count ? number_of_file(page, labels[i].file) : 0);
	for (uint32_t i = 0; i < all; i++)
		put(page, i < count ? labels[i].start_line : 0);
	for (uint32_t i = 0; i < all; i++)
		put(page, flags_of(page, &fates, i));
	for (uint32_t i = 0; i < all; i++)
		put(page, i < count && fates.items[i].runtime != NO_RUNTIME
				  ? count + fates.items[i].runtime
				  : 0);
}

static void put_frames(struct page *page)
{
	const struct display_labels *labels = &page->labels;
	uint32_t count = profile_frame_count(page->profile);

	put(page, count);
	for (frame_id i = 0; i < count; i++)
		put(page, labels->first_line[i + 1] - labels->first_line[i]);
	for (uint32_t i = 0; i < labels->first_line[count]; i++)
		put(page, (uint64_t)labels->lines[i].label * 2 + labels->lines[i].is_inlined);
	for (uint32_t i = 0; i < labels->first_line[count]; i++)
		put(page, labels->lines[i].line);
}

/* A stack's number is larger than its parent's. */
static void put_stacks(struct page *page)
{
	const struct profile_stacks stacks = profile_stacks(page->profile);
	uint32_t count = stacks.count;

	put(page, count - 1);
	for (stack_id i = 1; i < count; i++)
		put(page, i - stacks.items[i].parent);
	for (stack_id i = 1; i < count; i++)
		put(page, stacks.items[i].frame);
}

static void put_threads(struct page *page)
{
	uint32_t count = profile_thread_count(page->profile);

	put(page, count);
	for (thread_id i = 0; i < count; i++) {
		const struct profile_thread *thread = profile_get_thread(page->profile, i);

		put_pid(page, thread->pid);
		put_pid(page, thread->tid);
		put_string(page, thread->process);
		put_string(page, thread->name);
	}
}

struct tag {
	string_id key;
	string_id value; /* an index of tags.values */
};

/* The distinct labels of all label sets. */
struct tags {
	struct strtab *values;
	struct idmap numbers; /* by (key, value) */
	struct tag *items;
	uint32_t count, room;
	uint32_t *of_sets; /* label numbers, one label set after the other */
	size_t of_sets_count, of_sets_room;
};

static void add_tag(struct tags *tags, const struct profile *profile,
		    const struct profile_label *label)
{
	CLEANUP(free_ptr) char *text = label_text(profile, label);
	struct tag tag = {.key = label->key, .value = strtab_add(tags->values, text)};
	uint32_t *number = idmap_put(&tags->numbers, tag.key, tag.value);

	if (*number == IDMAP_NONE) {
		GROW(tags->items, tags->count, tags->room);
		*number = tags->count;
		tags->items[tags->count++] = tag;
	}
	GROW(tags->of_sets, tags->of_sets_count, tags->of_sets_room);
	tags->of_sets[tags->of_sets_count++] = *number;
}

static void tags_init(struct tags *tags, const struct profile *profile)
{
	*tags = (struct tags){.values = strtab_new()};
	for (label_set_id i = 0; i < profile_label_set_count(profile); i++) {
		const struct profile_label_set *set = profile_get_label_set(profile, i);

		for (uint32_t label = 0; label < set->count; label++)
			add_tag(tags, profile, &set->labels[label]);
	}
}

static void tags_deinit(struct tags *tags)
{
	strtab_free(tags->values);
	idmap_deinit(&tags->numbers);
	free(tags->items);
	free(tags->of_sets);
}

static void put_label_sets(struct page *page)
{
	uint32_t count = profile_label_set_count(page->profile);
	CLEANUP(tags_deinit) struct tags tags;
	size_t at = 0;

	tags_init(&tags, page->profile);
	put(page, tags.count);
	for (uint32_t i = 0; i < tags.count; i++) {
		put_string(page, tags.items[i].key);
		put_text(page, strtab_get(tags.values, tags.items[i].value));
	}
	put(page, count);
	for (label_set_id i = 0; i < count; i++) {
		const struct profile_label_set *set = profile_get_label_set(page->profile, i);

		put(page, set->thread);
		put(page, set->count);
		for (uint32_t label = 0; label < set->count; label++)
			put(page, tags.of_sets[at++]);
	}
}

static void put_samples(struct page *page)
{
	const struct profile *profile = page->profile;
	const struct profile_samples samples = profile_samples(profile);
	uint64_t count = samples.count;
	stack_id last = STACK_EMPTY;

	put(page, count);
	for (uint64_t i = 0; i < count; i++) {
		stack_id stack = samples.items[i].stack;

		put_signed(page, (int64_t)stack - last);
		last = stack;
	}
	for (uint64_t i = 0; i < count; i++)
		put(page, samples.items[i].labels);
	for (uint64_t i = 0; i < count; i++)
		put(page, number_of_event(page, samples.items[i].event));
	for (uint64_t i = 0; i < count; i++)
		put(page, samples.items[i].samples);
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		put_signed(page,
			   (int64_t)(sample->weight - sample->samples * page->each[sample->event]));
	}
}

static void put_timed_samples(struct page *page)
{
	const struct profile *profile = page->profile;
	const struct profile_timed_samples timed_samples = profile_timed_samples(profile);
	uint64_t all = timed_samples.count;
	uint64_t each = all ? (all - 1) / MOST_TIMED_SAMPLES + 1 : 1;
	int64_t last_us = 0;

	put(page, all / each);
	put(page, each);
	for (uint64_t i = 0; i < all / each; i++) {
		int64_t us = since_start_us(page, timed_samples.items[i * each].time_ns);

		put_signed(page, us - last_us);
		last_us = us;
	}
	for (uint64_t i = 0; i < all / each; i++)
		put(page, timed_samples.items[i * each].cpu);
	for (uint64_t i = 0; i < all / each; i++)
		put(page, timed_samples.items[i * each].sample);
}

static void put_intervals(struct page *page)
{
	CLEANUP(merged_intervals_deinit) struct merged_intervals intervals;
	int64_t last_ns = (int64_t)start_ns(page->profile);

	merge_intervals(page->profile, MOST_INTERVALS, &intervals);
	put(page, intervals.count);
	put(page, intervals.span_ns);
	for (uint64_t i = 0; i < intervals.count; i++) {
		int64_t end_ns = (int64_t)intervals.items[i].end_ns;

		put_signed(page, end_ns - last_ns);
		last_ns = end_ns;
	}
	for (uint64_t i = 0; i < intervals.count; i++)
		put(page, intervals.items[i].end_ns - intervals.items[i].start_ns);
	for (uint64_t i = 0; i < intervals.count; i++) {
		const struct profile_interval *item = &intervals.items[i];

		put_signed(page, (int64_t)(item->end_ns - item->start_ns - item->weight));
	}
	for (uint64_t i = 0; i < intervals.count; i++)
		put(page, intervals.items[i].sample);
}

static void put_markers(struct page *page)
{
	uint64_t count = profile_marker_count(page->profile);

	put(page, count);
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_marker *marker = profile_get_marker(page->profile, i);

		put(page, marker->kind);
		put_signed(page, since_start_us(page, marker->time_ns));
		put(page, marker->cpu);
		put_pid(page, marker->pid);
		put_pid(page, marker->tid);
		put_string(page, marker->text);
		put(page, marker->count);
	}
}

/* Files with the text of their lines; the number 0 ends the list. */
static void put_sources(struct page *page)
{
	size_t count, first, end;
	CLEANUP(free_ptr) struct source_line *lines = source_lines(&page->labels, &count);
	CLEANUP(source_users_cleanup)
	struct source_users *users = source_users_new(page->profile);
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();

	for (first = 0; first < count; first = end) {
		CLEANUP(arena_deinit) struct arena arena = {0};
		string_id file = lines[first].file;
		const char **texts;

		for (end = first; end < count && lines[end].file == file;)
			end++;
		texts = source_texts(caller, profile_string(page->profile, file),
				     source_users_get(users, file), lines + first, end - first,
				     &arena);
		if (!texts)
			continue;
		put(page, number_of_file(page, file));
		put(page, end - first);
		for (size_t i = first; i < end; i++) {
			put(page, lines[i].line);
			put_text(page, texts[i - first]);
		}
	}
}

static void put_profile(struct page *page, const struct format_options *options)
{
	put_info(page, options);
	put_events(page);
	put_modules(page);
	put_files(page);
	put_labels(page);
	put_frames(page);
	put_stacks(page);
	put_threads(page);
	put_label_sets(page);
	put_samples(page);
	put_timed_samples(page);
	put_intervals(page);
	put_markers(page);
	if (options->source)
		put_sources(page);
	put(page, 0);
}

/* Returns an errno. */
static int put_data(struct page *page, const struct format_options *options, FILE *out)
{
	CLEANUP(close_file) FILE *text = base64_writer(out);
	int error = 0;

	page->out = text ? gzip_writer(text) : NULL;
	if (!page->out)
		return errno;
	setvbuf(page->out, NULL, _IOFBF, 64 * 1024);
	put_profile(page, options);
	if (fclose(page->out))
		error = errno;
	if (fclose(STEAL(text)) && !error)
		error = errno;
	return error;
}

static void page_deinit(struct page *page)
{
	display_labels_deinit(&page->labels);
	idmap_deinit(&page->files);
	free(page->paths);
	free(page->each);
}

static struct error *html_write(const struct profile *profile, const struct format_options *options,
				FILE *out)
{
	CLEANUP(page_deinit) struct page page = {.profile = profile, .event = options->event};
	int error;

	display_labels_init_named(&page.labels, profile,
				  options->names == NAMES_FULL ? NAMES_SHORT : options->names);
	find_weights_of_samples(&page);
	fwrite(page_before, 1, strlen(page_before), out);
	error = put_data(&page, options, out);
	fwrite(page_after, 1, strlen(page_after), out);
	if ((fflush(out) || ferror(out)) && !error)
		error = errno ? errno : EIO;
	return error ? error_errno(error, "write the page") : NULL;
}

const struct format format_html = {
	.name = "html",
	.extensions = (const char *const[]){".html", ".htm", NULL},
	.viewer = "xdg-open FILE",
	.summary = "a page to look at in any browser: flame graph, functions, call tree, time",
	.needs_timestamps = true,
	.shows_differences = true,
	.write = html_write,
};
