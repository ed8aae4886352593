/* Answers of confined processes: complete answers, errors, and the cost of
 * harmful ones. */
#include "sandbox/answer.h"

#include "base/alloc.h"
#include "lacking.h"
#include "unit_test.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, LONG_BYTES = 3 * CHANNEL_BYTES + 17, QUESTION = ANSWER_OTHER_KINDS, REPLY };

static const struct answer_options plain = {
	.what = "the file",
	.limits = {.memory_bytes = 64 * MIB, .cpu_seconds = 20},
	.bytes_max = LONG_BYTES,
};

static void assert_fails(const struct answer_options *options, confined_main *main,
			 const char *text)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	char *bytes = NULL;
	size_t len;

	err = answer_ask(options, main, NULL, &bytes, &len);
	assert_non_null(err);
	assert_string_equal(error_text(err), text);
	assert_null(bytes);
}

static void send_numbers(struct channel *channel, void *user)
{
	const size_t *len = user;
	CLEANUP(free_ptr) unsigned char *bytes = xcalloc(*len + 1, 1);

	for (size_t i = 0; i < *len; i++)
		bytes[i] = (unsigned char)(i % 251);
	answer_send(channel, bytes, *len);
}

TEST(an_answer_of_any_length_arrives_whole)
{
	static const size_t lens[] = {0, 1, CHANNEL_BYTES, LONG_BYTES};

	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		CLEANUP(free_ptr) char *bytes = NULL;
		size_t len = 1;

		assert_null(answer_ask(&plain, send_numbers, (void *)&lens[i], &bytes, &len));
		assert_int_equal(len, lens[i]);
		for (size_t at = 0; at < len; at++)
			assert_int_equal((unsigned char)bytes[at], at % 251);
	}
}

static void send_hinted_error(struct channel *channel, void *user)
{
	CLEANUP(error_cleanup)
	struct error *err = error_hint(error_new("it is %s", "empty"), "fill it");

	(void)user;
	answer_send_error(channel, err);
}

TEST(an_error_arrives_with_its_hint)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	char *bytes;
	size_t len;

	err = answer_ask(&plain, send_hinted_error, NULL, &bytes, &len);
	assert_string_equal(error_text(err), "it is empty");
	assert_string_equal(error_hint_text(err), "fill it");
}

static void die_in_the_middle(struct channel *channel, void *user)
{
	struct channel_message part = {.kind = 1, .bytes = "some", .len = 4, .fd = -1};

	(void)user;
	if (channel_send(channel, &part) == CHANNEL_DONE)
		raise(SIGKILL);
}

TEST(a_process_that_dies_gives_no_part_of_an_answer)
{
	assert_fails(&plain, die_in_the_middle, "the process that reads the file died");
}

static void send_kind(struct channel *channel, uint32_t kind)
{
	while (channel_send(channel, &(struct channel_message){
					     .kind = kind, .bytes = "", .fd = -1}) == CHANNEL_DONE)
		continue;
}

static void send_unknown_kind(struct channel *channel, void *user)
{
	(void)user;
	send_kind(channel, 77);
}

static void send_unwanted_question(struct channel *channel, void *user)
{
	(void)user;
	send_kind(channel, QUESTION);
}

/* Sends an endless answer. */
static void send_empty_parts(struct channel *channel, void *user)
{
	(void)user;
	send_kind(channel, 1);
}

static void send_hints(struct channel *channel, void *user)
{
	(void)user;
	send_kind(channel, 4);
}

TEST(nonsense_is_not_an_answer)
{
	static confined_main *const liars[] = {send_unknown_kind, send_unwanted_question,
					       send_empty_parts, send_hints};

	for (unsigned i = 0; i < sizeof(liars) / sizeof(liars[0]); i++)
		assert_fails(&plain, liars[i],
			     "the process that reads the file sent an invalid message");
}

static void send_for_ever(struct channel *channel, void *user)
{
	(void)user;
	for (;;)
		answer_send(channel, "more", 4);
}

static void send_too_much(struct channel *channel, void *user)
{
	size_t len = LONG_BYTES + 1;

	(void)user;
	send_numbers(channel, &len);
	send_for_ever(channel, NULL);
}

TEST(an_answer_beyond_its_limit_is_refused)
{
	assert_fails(&plain, send_too_much,
		     "the process that reads the file sent an invalid message");
}

static void hang(struct channel *channel, void *user)
{
	struct channel_message never;

	(void)user;
	while (channel_receive(channel, &never) != CHANNEL_CLOSED)
		continue;
}

TEST(a_process_that_hangs_is_given_up)
{
	struct answer_options options = plain;

	if (HAS_THREAD_SANITIZER)
		RETURN_LACKING("a process without the sanitizer's own thread, which never rests");
	options.standstill_ms = 200;
	assert_fails(&options, hang, "the process that reads the file makes no progress");
}

static void spin(struct channel *channel, void *user)
{
	volatile unsigned long turns = 0;

	(void)channel, (void)user;
	for (;;)
		turns = turns + 1;
}

/* The process computes, so it is not stalled. */
TEST(a_process_that_computes_without_an_end_reaches_its_limit)
{
	struct answer_options options = plain;

	options.standstill_ms = 200;
	options.limits.cpu_seconds = 1;
	assert_fails(&options, spin, "reading the file takes longer than 1 s");
}

/* Sends its pid, and computes for some milliseconds when it gets the reply. */
static void compute_when_replied(struct channel *channel, void *user)
{
	pid_t pid = (pid_t)syscall(SYS_getpid);
	struct channel_message message = {
		.kind = QUESTION, .bytes = &pid, .len = sizeof(pid), .fd = -1};

	(void)user;
	if (channel_send(channel, &message) != CHANNEL_DONE ||
	    channel_receive(channel, &message) != CHANNEL_DONE)
		abort();
	for (volatile unsigned i = 0; i < 1000000; i++)
		continue;
	answer_send(channel, "", 0);
}

/* Another process uses nearly all of the CPU time that the process may use. */
static bool leave_little_cpu(void *user, struct channel *channel,
			     const struct channel_message *message)
{
	pid_t pid = *(const pid_t *)message->bytes, *rival = user;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(pid, sizeof(one), &one);
	setpriority(PRIO_PROCESS, (id_t)pid, 19);
	*rival = fork();
	if (*rival == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(one), &one);
		spin(NULL, NULL);
	}
	return channel_send(channel, &(struct channel_message){
					     .kind = REPLY, .bytes = "", .fd = -1}) == CHANNEL_DONE;
}

TEST(a_process_that_waits_for_a_cpu_does_not_stand_still)
{
	struct answer_options options = plain;
	CLEANUP(free_ptr) char *bytes = NULL;
	pid_t rival = 0;
	size_t len;

	options.standstill_ms = 50;
	options.take = leave_little_cpu;
	options.user = &rival;
	assert_null(answer_ask(&options, compute_when_replied, NULL, &bytes, &len));
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
}

static void take_memory(struct channel *channel, void *user)
{
	(void)channel, (void)user;
	for (;;)
		memset(xmalloc(MIB), 1, MIB);
}

TEST(a_process_that_takes_too_much_memory_is_named_so)
{
	if (SANITIZED)
		RETURN_LACKING("an allocator without shadow memory");
	assert_fails(&plain, take_memory, "reading the file takes too much memory");
}

TEST(a_wait_can_be_cancelled)
{
	struct answer_options options = plain;
	atomic_bool cancel = true;

	options.cancel = &cancel;
	assert_fails(&options, hang, "reading the file was cancelled");
}

static void ask_twice(struct channel *channel, void *user)
{
	const struct channel_message question = {
		.kind = QUESTION, .bytes = "?", .len = 1, .fd = -1};
	struct channel_message reply;
	char said[2] = "";

	(void)user;
	for (unsigned i = 0; i < 2; i++) {
		if (channel_send(channel, &question) != CHANNEL_DONE ||
		    channel_receive(channel, &reply) != CHANNEL_DONE || reply.kind != REPLY)
			abort();
		memcpy(said + i, reply.bytes, 1);
	}
	answer_send(channel, said, 2);
}

static bool reply_letter(void *user, struct channel *channel, const struct channel_message *message)
{
	char *letter = user, now = (*letter)++;

	return message->kind == QUESTION && message->len == 1 &&
	       channel_send(channel,
			    &(struct channel_message){
				    .kind = REPLY, .bytes = &now, .len = 1, .fd = -1}) ==
		       CHANNEL_DONE;
}

TEST(questions_of_the_process_are_the_callers)
{
	struct answer_options options = plain;
	CLEANUP(free_ptr) char *bytes = NULL;
	char letter = 'a';
	size_t len;

	options.take = reply_letter;
	options.user = &letter;
	assert_null(answer_ask(&options, ask_twice, NULL, &bytes, &len));
	assert_int_equal(len, 2);
	assert_memory_equal(bytes, "ab", 2);
}

int main(void)
{
	if (!has_seccomp())
		return lacking_all("filters of system calls (seccomp)");
	return unit_tests_run();
}
