#include "serve/recordings.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "serve/answers.h"
#include "serve/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/*
 * Low enough to record a whole machine all the time, and not in lockstep with
 * its clocks.
 */
enum { CPU_HZ = 99 };

struct word_list {
	struct recording_words *to;
	size_t count, used; /* number of arguments, bytes of numbers */
};

static void recordings_add(struct word_list *list, const char *word)
{
	list->to->words[list->count++] = word;
}

static void recordings_add_number(struct word_list *list, const char *option, uint64_t number)
{
	char *text = &list->to->numbers[list->used];

	list->used += 1 + (size_t)snprintf(text, sizeof(list->to->numbers) - list->used, "%" PRIu64,
					   number);
	recordings_add(list, option);
	recordings_add(list, text);
}

static void recordings_add_target(struct word_list *list, const struct serve_wish *wish, uid_t user)
{
	switch (wish->scope) {
	case SERVE_EVERYTHING:
		if (user)
			recordings_add_number(list, "-u", user);
		else
			recordings_add(list, "-a");
		break;
	case SERVE_PID:
		recordings_add_number(list, "-p", (uint64_t)wish->pid);
		break;
	case SERVE_COMM:
		recordings_add(list, "--name");
		recordings_add(list, wish->name);
		break;
	case SERVE_CGROUP:
		recordings_add(list, "-G");
		recordings_add(list, wish->name);
		break;
	}
}

void recording_words_of(const struct serve_wish *wish, uid_t user, struct recording_words *ret)
{
	struct word_list list = {.to = ret};

	*ret = (struct recording_words){0};
	recordings_add(&list, "prof");
	recordings_add(&list, "record");
	recordings_add(&list, "--format");
	recordings_add(&list, wish->format->name);
	recordings_add(&list, "-o");
	recordings_add(&list, "-");
	/* The client would have to wait for the servers. */
	recordings_add(&list, "--debuginfod");
	recordings_add(&list, "no");
	recordings_add_number(&list, "--duration", wish->seconds);
	if (wish->event == SERVE_OFF_CPU)
		recordings_add(&list, "--off-cpu");
	/* With -F, CPU time would be sampled in addition to allocations. */
	if (wish->event == SERVE_ALLOC)
		recordings_add(&list, "--alloc");
	else if (wish->hz || wish->event == SERVE_CPU)
		recordings_add_number(&list, "-F", wish->hz ? wish->hz : CPU_HZ);
	recordings_add_target(&list, wish, user);
}

__attribute__((format(printf, 2, 3))) static void say(const struct recordings *recordings,
						      const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	recordings->say(recordings->user, text);
}

static void refuse_busy(struct recordings *recordings, struct http_exchange *exchange)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t left_ns = recordings->until_ns > now_ns ? recordings->until_ns - now_ns : 0;
	CLEANUP(free_ptr) char *seconds = xasprintf("%" PRIu64, left_ns / NS_PER_SECOND + 1);

	recordings->metrics->busy++;
	answer_error(exchange, 503, "another client's recording is running: try again later",
		     &(struct http_header){"Retry-After", seconds});
}

/* Returns why nothing can be recorded, or NULL. The caller frees it. */
static char *find_lack(const struct serve_wish *wish)
{
	struct processes processes = {0};
	bool exists = true;

	if (wish->event == SERVE_ALLOC && wish->scope != SERVE_PID)
		return xstrdup("event=alloc needs pid=PID of a process that prof inside has "
			       "started");
	if (wish->scope == SERVE_PID)
		return kill(wish->pid, 0) < 0 && errno == ESRCH
			       ? xasprintf("there is no process %d", wish->pid)
			       : NULL;
	if (wish->scope == SERVE_EVERYTHING)
		return NULL;
	processes_read(&processes);
	exists = wish->scope == SERVE_COMM ? processes_have_name(&processes, wish->name)
					   : processes_have_cgroup(&processes, wish->name);
	processes_deinit(&processes);
	return exists ? NULL : xasprintf("there is no process of %s", wish->name);
}

/* Removes "prof: " before each line. The caller frees the result. */
static char *plain_words(const char *words)
{
	static const char prefix[] = "prof: ";
	char *plain = xmalloc(strlen(words) + 1), *to = plain;

	while (*words) {
		size_t len;

		words += text_begins(words, prefix) ? strlen(prefix) : 0;
		len = strcspn(words, "\n");
		memcpy(to, words, len);
		to += len;
		words += len;
		if (*words == '\n' && *++words)
			*to++ = '\n';
	}
	*to = '\0';
	return plain;
}

/*
 * Takes ownership of fd. If a recorder was killed, its output does not contain
 * the reason.
 */
static void recordings_fail(struct recordings *recordings, struct profile_result *result)
{
	CLEANUP(free_ptr) char *words = plain_words(result->words);
	const char *reason = result->was_killed || !*words ? "another process ended the recording"
							   : words;

	close(result->fd);
	recordings->metrics->failed++;
	say(recordings, "a recording has failed: %s", reason);
	answer_error(recordings->exchange, 500, reason, NULL);
}

static void succeed(struct recordings *recordings, struct profile_result *result)
{
	struct profile_counts counts = profile_counts_of(result->words);

	recordings->metrics->whole++;
	recordings->metrics->samples += counts.samples;
	recordings->metrics->lost += counts.lost;
	say(recordings, "recorded %u s: %" PRIu64 " samples, %" PRIu64 " lost",
	    recordings->wish.seconds, counts.samples, counts.lost);
	answer_profile(recordings->exchange, recordings->wish.format, result->fd, result->bytes);
}

static void recordings_on_end(void *user)
{
	struct recordings *recordings = user;
	struct profile_result result;

	profile_job_finish(STEAL(recordings->job), &result);
	recordings->metrics->is_recording = false;
	recordings->metrics->recording_cpu_ns += result.cpu_ns;
	if (result.is_whole)
		succeed(recordings, &result);
	else
		recordings_fail(recordings, &result);
	free(result.words);
}

void recordings_begin(struct recordings *recordings, struct http_exchange *exchange,
		      const struct serve_wish *wish)
{
	CLEANUP(free_ptr) char *lack = NULL;
	struct recording_words words;
	struct error *err;

	if (recordings->job) {
		refuse_busy(recordings, exchange);
		return;
	}
	lack = find_lack(wish);
	if (lack) {
		recordings->metrics->wrong++;
		answer_error(exchange, wish->event == SERVE_ALLOC ? 400 : 404, lack, NULL);
		return;
	}
	recordings->wish = *wish;
	recording_words_of(&recordings->wish, geteuid(), &words);
	err = profile_job_start((char *const *)words.words, recordings->loop, recordings_on_end,
				recordings, &recordings->job);
	if (err) {
		recordings->metrics->failed++;
		answer_error(exchange, 500, error_text(err), NULL);
		error_free(err);
		return;
	}
	recordings->exchange = exchange;
	recordings->until_ns = clock_now_ns() + wish->seconds * NS_PER_SECOND;
	recordings->metrics->is_recording = true;
}

static void cancel(struct recordings *recordings)
{
	recordings->metrics->recording_cpu_ns += profile_job_cancel(STEAL(recordings->job));
	recordings->metrics->is_recording = false;
}

void recordings_end(struct recordings *recordings, const struct http_exchange *exchange)
{
	if (!recordings->job || exchange != recordings->exchange)
		return;
	cancel(recordings);
	recordings->metrics->cancelled++;
	say(recordings, "ended a recording because its client disconnected");
}

void recordings_deinit(struct recordings *recordings)
{
	if (recordings->job)
		cancel(recordings);
}
