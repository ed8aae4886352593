/*
 * The page that people look at: a skeleton that knows how to draw (html/), and the profile in it as
 * tables of numbers, column by column, deflated, in base64. html/reader.js reads what is written
 * here, in the same order; the page makes call trees of it itself, for it filters and regroups.
 *
 * Numbers are LEB128; those that may be negative in zigzag: 0, -1, 1, -2, …
 */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/gzip.h"
#include "base/idmap.h"
#include "base/utf8.h"
#include "format/format.h"
#include "format/html_files.h"
#include "format/html_source.h"
#include "report/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of more moments every second, third … stands for as many: a browser is to hold them. */
#define MOST_MOMENTS 1000000u

/* JavaScript's numbers are exact up to 2^53, with the sign one bit less. */
#define MOST_SIGNED ((int64_t)1 << 51)

struct page {
	const struct profile *profile;
	struct labels labels;
	struct idmap files; /* string → number, from 1 */
	string_id *paths;   /* of those, by number - 1 */
	uint32_t path_count, path_room;
	uint64_t *each; /* by event: weight of a sample, as of its first cell */
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

/* Of a process or thread; -1: not known. */
static void put_pid(struct page *page, pid_t pid)
{
	put(page, (uint64_t)((int64_t)pid + 1));
}

static void put_string(struct page *page, string_id id)
{
	put_text(page, profile_string(page->profile, id));
}

/* The time of the first moment where the beginning on their clock is not known. */
static uint64_t start_ns(const struct profile *profile)
{
	uint64_t start = profile_get_info(profile)->start_ns;

	return start || !profile_moment_count(profile) ? start
						       : profile_get_moment(profile, 0)->time_ns;
}

static int64_t since_start_us(const struct page *page, uint64_t time_ns)
{
	return (int64_t)(time_ns - start_ns(page->profile)) / 1000;
}

/* Up to the last sample at least. */
static uint64_t duration_us(const struct page *page)
{
	uint64_t duration = profile_get_info(page->profile)->duration_ns / 1000;
	uint64_t moments = profile_moment_count(page->profile);
	int64_t last;

	if (!moments)
		return duration;
	last = since_start_us(page, profile_get_moment(page->profile, moments - 1)->time_ns) + 1;
	return last > 0 && (uint64_t)last > duration ? (uint64_t)last : duration;
}

static void put_info(struct page *page, const struct format_options *options)
{
	const struct profile_info *info = profile_get_info(page->profile);

	put_text(page, info->command);
	put_text(page, info->host);
	put_text(page, info->kernel);
	put_text(page, info->quality);
	put_text(page, info->remarks);
	put(page, info->start_unix_ns / 1000000);
	put(page, duration_us(page));
	put(page, options->difference);
}

static void find_weights_of_samples(struct page *page)
{
	page->each = xcalloc(profile_event_count(page->profile), sizeof(*page->each));
	for (uint64_t i = 0; i < profile_cell_count(page->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(page->profile, i);

		if (!page->each[cell->event] && cell->samples)
			page->each[cell->event] = cell->weight / cell->samples;
	}
}

static void put_events(struct page *page)
{
	uint32_t count = profile_event_count(page->profile);

	put(page, count);
	for (event_id i = 0; i < count; i++) {
		const struct profile_event *event = profile_get_event(page->profile, i);

		put_string(page, event->name);
		put_string(page, event->unit);
		put(page, event->counts_ns);
		put(page, event->one_value);
		put(page, event->period);
		put(page, event->frequency_hz);
		put(page, page->each[i]);
	}
}

/* PROFILE_NOTES is the last one. */
static void put_modules(struct page *page)
{
	uint32_t count = profile_module_count(page->profile);

	put(page, count + 1);
	for (uint32_t i = 0; i <= count; i++) {
		const struct profile_module *module =
			profile_get_module(page->profile, i < count ? i : PROFILE_NOTES);

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

static void put_labels(struct page *page)
{
	const struct label *labels = page->labels.items;
	uint32_t count = page->labels.count, modules = profile_module_count(page->profile);

	put(page, count);
	for (uint32_t i = 0; i < count; i++)
		put_text(page, labels[i].name);
	for (uint32_t i = 0; i < count; i++)
		put(page, labels[i].module < modules ? labels[i].module : modules);
	for (uint32_t i = 0; i < count; i++)
		put(page, number_of_file(page, labels[i].file));
	for (uint32_t i = 0; i < count; i++)
		put(page, labels[i].start_line);
	for (uint32_t i = 0; i < count; i++)
		put(page, labels[i].is_address);
}

static void put_frames(struct page *page)
{
	const struct labels *labels = &page->labels;
	uint32_t count = profile_frame_count(page->profile);

	put(page, count);
	for (frame_id i = 0; i < count; i++)
		put(page, labels->first_line[i + 1] - labels->first_line[i]);
	for (uint32_t i = 0; i < labels->first_line[count]; i++)
		put(page, (uint64_t)labels->lines[i].label * 2 + labels->lines[i].is_inlined);
	for (uint32_t i = 0; i < labels->first_line[count]; i++)
		put(page, labels->lines[i].line);
}

/* A stack is numbered after its parent. */
static void put_stacks(struct page *page)
{
	uint32_t count = profile_stack_count(page->profile);

	put(page, count - 1);
	for (stack_id i = 1; i < count; i++)
		put(page, i - profile_get_stack(page->profile, i).parent);
	for (stack_id i = 1; i < count; i++)
		put(page, profile_get_stack(page->profile, i).frame);
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

static void put_cells(struct page *page)
{
	const struct profile *profile = page->profile;
	uint64_t count = profile_cell_count(profile);
	stack_id last = STACK_EMPTY;

	put(page, count);
	for (uint64_t i = 0; i < count; i++) {
		stack_id stack = profile_get_cell(profile, i)->stack;

		put_signed(page, (int64_t)stack - last);
		last = stack;
	}
	for (uint64_t i = 0; i < count; i++)
		put(page, profile_get_cell(profile, i)->thread);
	for (uint64_t i = 0; i < count; i++)
		put(page, profile_get_cell(profile, i)->event);
	for (uint64_t i = 0; i < count; i++)
		put(page, profile_get_cell(profile, i)->samples);
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		put_signed(page, (int64_t)(cell->weight - cell->samples * page->each[cell->event]));
	}
}

static void put_moments(struct page *page)
{
	const struct profile *profile = page->profile;
	uint64_t all = profile_moment_count(profile);
	uint64_t each = all ? (all - 1) / MOST_MOMENTS + 1 : 1;
	int64_t last_us = 0;

	put(page, all / each);
	put(page, each);
	for (uint64_t i = 0; i < all / each; i++) {
		int64_t us = since_start_us(page, profile_get_moment(profile, i * each)->time_ns);

		put_signed(page, us - last_us);
		last_us = us;
	}
	for (uint64_t i = 0; i < all / each; i++)
		put(page, profile_get_moment(profile, i * each)->cpu);
	for (uint64_t i = 0; i < all / each; i++)
		put(page, profile_get_moment(profile, i * each)->cell);
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

/* Files with the text of their lines; the number 0 stands at the end. */
static void put_sources(struct page *page)
{
	size_t count, first, end;
	CLEANUP(free_ptr) struct source_line *lines = source_lines(&page->labels, &count);

	for (first = 0; first < count; first = end) {
		CLEANUP(arena_deinit) struct arena arena = {0};
		string_id file = lines[first].file;
		const char **texts;

		for (end = first; end < count && lines[end].file == file;)
			end++;
		texts = source_texts(profile_string(page->profile, file), lines + first,
				     end - first, &arena);
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
	put_cells(page);
	put_moments(page);
	put_markers(page);
	if (options->source)
		put_sources(page);
	put(page, 0);
}

/* The result is an errno. */
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
	labels_deinit(&page->labels);
	idmap_deinit(&page->files);
	free(page->paths);
	free(page->each);
}

static struct error *html_write(const struct profile *profile, const struct format_options *options,
				FILE *out)
{
	CLEANUP(page_deinit) struct page page = {.profile = profile};
	int error;

	labels_init(&page.labels, profile);
	find_weights_of_samples(&page);
	fwrite(html_before, 1, strlen(html_before), out);
	error = put_data(&page, options, out);
	fwrite(html_behind, 1, strlen(html_behind), out);
	if ((fflush(out) || ferror(out)) && !error)
		error = errno ? errno : EIO;
	return error ? error_errno(error, "write the page") : NULL;
}

const struct format format_html = {
	.name = "html",
	.extensions = (const char *const[]){".html", ".htm", NULL},
	.viewer = "xdg-open FILE",
	.summary = "a page to look at in any browser: flame graph, functions, call tree, time",
	.wants_moments = true,
	.shows_differences = true,
	.write = html_write,
};
