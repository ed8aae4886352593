/*
 * Writes the HTML report: a static skeleton with scripts (web/page), and the
 * profile as columns of numbers, deflated, in base64. web/page/reader.js reads
 * them in the same order. The page builds call trees itself, because it filters
 * and regroups.
 *
 * Numbers are LEB128. Those that can be negative are zigzag-encoded: 0, -1, 1,
 * -2, …
 */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/gzip.h"
#include "base/idmap.h"
#include "base/utf8.h"
#include "format/embedded.h"
#include "format/format.h"
#include "format/page/comparison.h"
#include "format/page/intervals.h"
#include "format/page/source.h"
#include "profile/source_users.h"
#include "report/display_labels.h"
#include "report/idle.h"
#include "report/label_values.h"
#include "report/logical.h"
#include "report/own_code.h"
#include "report/quality_text.h"
#include "report/runtime_use.h"
#include "report/stat_text.h"
#include "report/title.h"
#include "report/waiting.h"
#include "report/waiting_place.h"
#include "web/page_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A browser must hold all timed samples. If there are more than this, only
 * every 2nd, 3rd, … is written and counts for as many.
 */
#define PAGE_MOST_TIMED_SAMPLES 1000000u
/*
 * If there are more intervals than this, short ones are merged. Each takes
 * about 8 bytes, deflated.
 */
#define MOST_INTERVALS 300000u

/* JavaScript's numbers are exact up to 2^53; with a sign, one bit less. */
#define MOST_SIGNED ((int64_t)1 << 51)

struct page {
	const struct profile *profile;
	event_id event; /* the event that the page shows first, which gets the number 0 */
	struct display_labels labels;
	struct idmap files; /* file name → number, from 1 */
	string_id *paths;   /* file names, by number - 1 */
	uint32_t path_count, path_room;
	/*
	 * The weight of each event's first sample, to which others are
	 * relative.
	 */
	uint64_t *each;
	FILE *out;
};

static void page_put(struct page *page, uint64_t number)
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
	page_put(page, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void page_put_text(struct page *page, const char *text)
{
	struct arena arena = {0};
	const char *valid = utf8_valid(text ? text : "", &arena);
	size_t len = strlen(valid);

	page_put(page, len);
	fwrite_unlocked(valid, 1, len, page->out);
	arena_deinit(&arena);
}

/* Writes a process or thread id, -1 if it is unknown. */
static void put_pid(struct page *page, pid_t pid)
{
	page_put(page, (uint64_t)((int64_t)pid + 1));
}

static void page_put_string(struct page *page, string_id id)
{
	page_put_text(page, profile_string(page->profile, id));
}

/*
 * Returns the start of the recording, or of the first timed sample or interval
 * if it is unknown.
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

/*
 * Returns the recorded duration, extended to the last timed sample and the last
 * interval.
 */
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

/* Writes where the time of the threads went, or "" if it is unknown. */
static void page_put_waiting(struct page *page)
{
	struct waiting_quality sums;
	CLEANUP(free_ptr)
	char *text = waiting_sums(page->profile, &sums) ? waiting_text(&sums) : NULL;

	page_put_text(page, text);
}

/*
 * Writes the mean number of frames and of glue frames of a stack, and whether
 * the page opens on the logical view.
 */
static void page_put_glue(struct page *page)
{
	struct glue_share share = glue_share_of(page->profile);

	page_put(page, (uint64_t)(share.lines + 0.5));
	page_put(page, (uint64_t)(share.glue + 0.5));
	page_put(page, glue_share_is_most(&share));
}

static void put_info(struct page *page, const struct format_options *options)
{
	const struct profile_info *info = profile_get_info(page->profile);
	CLEANUP(free_ptr) char *quality = quality_headline(info);
	CLEANUP(free_ptr) char *stat = stat_line(info);
	CLEANUP(free_ptr) char *title = title_of(page->profile);
	CLEANUP(free_ptr) char *runtimes = runtime_use_text(page->profile);
	CLEANUP(free_ptr)
	char *headline = xasprintf("%s%s%s", quality, *quality && stat ? "; " : "",
				   stat ? stat : "");

	page_put_text(page, title);
	page_put_text(page, info->command);
	page_put_text(page, info->host);
	page_put_text(page, info->kernel);
	page_put_text(page, headline);
	page_put_text(page, runtimes);
	page_put_text(page, info->remarks);
	page_put(page, info->start_unix_ns / 1000000);
	page_put(page, duration_us(page));
	page_put(page, options->page.comparison ? options->difference : DIFFERENCE_NONE);
	page_put(page, options->event_only);
	page_put_waiting(page);
	page_put_glue(page);
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

/*
 * Works in both directions: the event that is shown first is swapped with event
 * 0.
 */
static event_id number_of_event(const struct page *page, event_id event)
{
	if (event == 0)
		return page->event;
	return event == page->event ? 0 : event;
}

static void page_put_events(struct page *page)
{
	uint32_t count = profile_event_count(page->profile);

	page_put(page, count);
	for (event_id number = 0; number < count; number++) {
		event_id i = number_of_event(page, number);
		const struct profile_event *event = profile_get_event(page->profile, i);

		page_put_string(page, event->name);
		page_put_text(page, profile_event_unit(page->profile, i));
		page_put(page, event->kind);
		page_put(page, value_scaled(event->kind, profile_event_unit(page->profile, i), 1));
		page_put(page, event->one_value);
		page_put(page, event->period);
		page_put(page, event->frequency_hz);
		page_put(page, page->each[i]);
	}
}

/* PROFILE_SYNTHETIC is the last module. */
static void page_put_modules(struct page *page)
{
	uint32_t count = profile_module_count(page->profile);

	page_put(page, count + 1);
	for (uint32_t i = 0; i <= count; i++) {
		const struct profile_module *module =
			profile_get_module(page->profile, i < count ? i : PROFILE_SYNTHETIC);

		page_put_string(page, module->path);
		page_put(page, module->kind);
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
	page_put(page, page->path_count + 1);
	page_put_text(page, "");
	for (uint32_t i = 0; i < page->path_count; i++)
		page_put_string(page, page->paths[i]);
}

/*
 * Returns how the page shows a label. For a row of a runtime, that is its name.
 */
static uint64_t flags_of(const struct page *page, const struct fates *fates, uint32_t label)
{
	if (label >= page->labels.count)
		return RANK_NATIVE << 1;
	return page->labels.items[label].is_address |
	       (uint64_t)waiting_rank_of(&page->labels, label) << 1 |
	       (uint64_t)fates->items[label].fate << 4 |
	       (uint64_t)is_own_code(&page->labels, fates, label) << 7;
}

/* The rows of runtimes in the logical view are the last labels. */
static void page_put_labels(struct page *page)
{
	const struct label *labels = page->labels.items;
	uint32_t count = page->labels.count, modules = profile_module_count(page->profile), all;
	CLEANUP(fates_deinit) struct fates fates;

	fates_init(&fates, &page->labels);
	all = count + fates.runtime_count;
	page_put(page, all);
	for (uint32_t i = 0; i < all; i++)
		page_put_text(page, i < count ? labels[i].name : fates.runtimes[i - count].name);
	/* The short names, "" if equal to the full ones. */
	for (uint32_t i = 0; i < all; i++)
		page_put_text(page, i < count && strcmp(labels[i].shown, labels[i].name) != 0
					    ? labels[i].shown
					    : "");
	for (uint32_t i = 0; i < all; i++) {
		uint32_t module = i < count ? labels[i].module : fates.runtimes[i - count].module;

		page_put(page, module < modules ? module : modules);
	}
	for (uint32_t i = 0; i < all; i++)
		page_put(page, i < count ? number_of_file(page, labels[i].file) : 0);
	for (uint32_t i = 0; i < all; i++)
		page_put(page, i < count ? labels[i].start_line : 0);
	for (uint32_t i = 0; i < all; i++)
		page_put(page, flags_of(page, &fates, i));
	for (uint32_t i = 0; i < all; i++)
		page_put(page, i < count && fates.items[i].runtime != NO_RUNTIME
				       ? count + fates.items[i].runtime
				       : 0);
}

static void page_put_frames(struct page *page)
{
	const struct display_labels *labels = &page->labels;
	uint32_t count = profile_frame_count(page->profile);

	page_put(page, count);
	for (frame_id i = 0; i < count; i++)
		page_put(page, labels->first_line[i + 1] - labels->first_line[i]);
	for (uint32_t i = 0; i < labels->first_line[count]; i++)
		page_put(page, (uint64_t)labels->lines[i].label * 2 + labels->lines[i].is_inlined);
	for (uint32_t i = 0; i < labels->first_line[count]; i++)
		page_put(page, labels->lines[i].line);
}

/* A stack's number is larger than its parent's. */
static void page_put_stacks(struct page *page)
{
	const struct profile_stacks stacks = profile_stacks(page->profile);
	uint32_t count = stacks.count;

	page_put(page, count - 1);
	for (stack_id i = 1; i < count; i++)
		page_put(page, i - stacks.items[i].parent);
	for (stack_id i = 1; i < count; i++)
		page_put(page, stacks.items[i].frame);
}

static void put_threads(struct page *page)
{
	uint32_t count = profile_thread_count(page->profile);

	page_put(page, count);
	for (thread_id i = 0; i < count; i++) {
		const struct profile_thread *thread = profile_get_thread(page->profile, i);

		put_pid(page, thread->pid);
		put_pid(page, thread->tid);
		page_put_string(page, thread->process);
		page_put_string(page, thread->name);
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
	page_put(page, tags.count);
	for (uint32_t i = 0; i < tags.count; i++) {
		page_put_string(page, tags.items[i].key);
		page_put_text(page, strtab_get(tags.values, tags.items[i].value));
	}
	page_put(page, count);
	for (label_set_id i = 0; i < count; i++) {
		const struct profile_label_set *set = profile_get_label_set(page->profile, i);

		page_put(page, set->thread);
		page_put(page, set->count);
		for (uint32_t label = 0; label < set->count; label++)
			page_put(page, tags.of_sets[at++]);
	}
}

static void page_put_samples(struct page *page)
{
	const struct profile *profile = page->profile;
	const struct profile_samples samples = profile_samples(profile);
	CLEANUP(free_ptr) bool *idle = idle_samples(&page->labels);
	uint64_t count = samples.count;
	stack_id last = STACK_EMPTY;

	page_put(page, count);
	for (uint64_t i = 0; i < count; i++) {
		stack_id stack = samples.items[i].stack;

		put_signed(page, (int64_t)stack - last);
		last = stack;
	}
	for (uint64_t i = 0; i < count; i++)
		page_put(page, samples.items[i].labels);
	for (uint64_t i = 0; i < count; i++)
		page_put(page,
			 (uint64_t)number_of_event(page, samples.items[i].event) * 2 + idle[i]);
	for (uint64_t i = 0; i < count; i++)
		page_put(page, samples.items[i].samples);
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		put_signed(page,
			   (int64_t)(sample->weight - sample->samples * page->each[sample->event]));
	}
}

static void page_put_timed_samples(struct page *page)
{
	const struct profile *profile = page->profile;
	const struct profile_timed_samples timed_samples = profile_timed_samples(profile);
	uint64_t all = timed_samples.count;
	uint64_t each = all ? (all - 1) / PAGE_MOST_TIMED_SAMPLES + 1 : 1;
	int64_t last_us = 0;

	page_put(page, all / each);
	page_put(page, each);
	for (uint64_t i = 0; i < all / each; i++) {
		int64_t us = since_start_us(page, timed_samples.items[i * each].time_ns);

		put_signed(page, us - last_us);
		last_us = us;
	}
	for (uint64_t i = 0; i < all / each; i++)
		page_put(page, timed_samples.items[i * each].cpu);
	for (uint64_t i = 0; i < all / each; i++)
		page_put(page, timed_samples.items[i * each].sample);
}

static void put_intervals(struct page *page)
{
	CLEANUP(merged_intervals_deinit) struct merged_intervals intervals;
	int64_t last_ns = (int64_t)start_ns(page->profile);

	merge_intervals(page->profile, MOST_INTERVALS, &intervals);
	page_put(page, intervals.count);
	page_put(page, intervals.span_ns);
	for (uint64_t i = 0; i < intervals.count; i++) {
		int64_t end_ns = (int64_t)intervals.items[i].end_ns;

		put_signed(page, end_ns - last_ns);
		last_ns = end_ns;
	}
	for (uint64_t i = 0; i < intervals.count; i++)
		page_put(page, intervals.items[i].end_ns - intervals.items[i].start_ns);
	for (uint64_t i = 0; i < intervals.count; i++) {
		const struct profile_interval *item = &intervals.items[i];

		put_signed(page, (int64_t)(item->end_ns - item->start_ns - item->weight));
	}
	for (uint64_t i = 0; i < intervals.count; i++)
		page_put(page, intervals.items[i].sample);
}

static void page_put_markers(struct page *page)
{
	uint64_t count = profile_marker_count(page->profile);

	page_put(page, count);
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_marker *marker = profile_get_marker(page->profile, i);

		page_put(page, marker->kind);
		put_signed(page, since_start_us(page, marker->time_ns));
		page_put(page, marker->cpu);
		put_pid(page, marker->pid);
		put_pid(page, marker->tid);
		page_put_string(page, marker->text);
		page_put(page, marker->count);
	}
}

/* Writes files with the text of their lines. The number 0 ends the list. */
static void page_put_sources(struct page *page)
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
		page_put(page, number_of_file(page, file));
		page_put(page, end - first);
		for (size_t i = first; i < end; i++) {
			page_put(page, lines[i].line);
			page_put_text(page, texts[i - first]);
		}
	}
}

/* Writes a share in thousandths of a percent. An unknown margin may be huge. */
static void put_share(struct page *page, double share)
{
	put_signed(page, (int64_t)llround(fmax(-1e9, fmin(share, 1e9)) * 1e5));
}

static void page_put_change(struct page *page, const struct change *change)
{
	put_share(page, change->before);
	put_share(page, change->after);
	put_share(page, change->margin);
	page_put(page, change->is_notable + (uint64_t)change->is_significant);
}

/* Writes the rows in the order of the report. */
static void page_put_comparison(struct page *page, const struct page_comparison *comparison)
{
	const struct diff *diff = comparison->diff;
	CLEANUP(free_ptr) uint32_t *labels = page_comparison_labels(comparison, &page->labels);
	uint32_t count = 0;

	page_put_text(page, comparison->verdict);
	page_put_text(page, comparison->causes);
	page_put_text(page, comparison->sides);
	page_put_text(page, comparison->uncertainty);
	page_put_text(page, comparison->of);
	page_put(page, comparison->recordings);
	page_put(page, diff->whole.is_guess);
	for (uint32_t i = 0; i < diff->count; i++)
		count += labels[i] != PAGE_NO_LABEL;
	page_put(page, count);
	for (uint32_t i = 0; i < diff->count; i++) {
		const struct diff_row *row = &diff->rows[i];

		if (labels[i] == PAGE_NO_LABEL)
			continue;
		page_put(page, labels[i]);
		page_put_change(page, &row->self);
		page_put_change(page, diff_row_is_whole(diff, row) ? &diff->whole : &row->total);
	}
}

static void page_put_profile(struct page *page, const struct format_options *options)
{
	put_info(page, options);
	page_put_events(page);
	page_put_modules(page);
	put_files(page);
	page_put_labels(page);
	page_put_frames(page);
	page_put_stacks(page);
	put_threads(page);
	put_label_sets(page);
	page_put_samples(page);
	page_put_timed_samples(page);
	put_intervals(page);
	page_put_markers(page);
	if (options->page.source)
		page_put_sources(page);
	page_put(page, 0);
	if (options->difference && options->page.comparison)
		page_put_comparison(page, options->page.comparison);
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
	page_put_profile(page, options);
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
	error = EMBEDDED_WRITE(page_before, out);
	if (!error)
		error = put_data(&page, options, out);
	if (!error)
		error = EMBEDDED_WRITE(page_after, out);
	if ((fflush(out) || ferror(out)) && !error)
		error = errno ? errno : EIO;
	return error ? error_errno(error, "write the HTML report") : NULL;
}

const struct format format_html = {
	.name = "html",
	.extensions = (const char *const[]){".html", ".htm", NULL},
	.viewer = "xdg-open FILE",
	.summary = "HTML report: flame graph, call tree, timeline",
	.needs_timestamps = true,
	.shows_differences = true,
	.write = html_write,
	.media_type = "text/html; charset=utf-8",
};
