#include "symbol/code_lister.h"

#include "base/alloc.h"
#include "elf/disassembly.h"
#include "sandbox/answer.h"
#include "symbol/remote_opener.h"

/*
 * Enough for the symbols of the largest programs and for capstone's details of
 * a large function.
 */
enum { MEMORY_BYTES = 512 << 20, CPU_SECONDS = 10 };

/* About 400,000 instructions. */
enum { LISTING_BYTES_MAX = 16 << 20 };

/* A program needs at most four debug files, each with a few candidates. */
enum { QUESTIONS_MAX = 64 };

/* Runs in the confined process. */
static void code_lister_list(struct channel *channel, void *user)
{
	struct code_listing_request request = *(const struct code_listing_request *)user;
	CLEANUP(error_cleanup) struct error *err = NULL;
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len;

	request.opener = remote_opener(channel);
	err = code_listing_write(&request, &bytes, &len);
	if (err)
		answer_send_error(channel, err);
	else
		answer_send(channel, bytes, len);
}

struct code_lister_questions {
	const struct debugfile_opener *opener;
	unsigned count;
};

static bool code_lister_take_question(void *user, struct channel *channel,
				      const struct channel_message *message)
{
	struct code_lister_questions *questions = user;

	return message->kind == REMOTE_OPENER_QUESTION && questions->count++ < QUESTIONS_MAX &&
	       remote_opener_answer(channel, message, questions->opener);
}

struct error *code_lister_run(const struct code_listing_request *request, struct code_listing **ret)
{
	struct code_lister_questions questions = {.opener = &request->opener};
	const struct answer_options options = {
		.what = "it",
		.limits = {.memory_bytes = MEMORY_BYTES, .cpu_seconds = CPU_SECONDS},
		.bytes_max = LISTING_BYTES_MAX,
		.take = code_lister_take_question,
		.user = &questions,
	};
	struct error *err = disassembly_load();
	char *bytes = NULL;
	size_t len = 0;

	if (!err)
		err = answer_ask(&options, code_lister_list, (void *)request, &bytes, &len);
	if (!err) {
		*ret = code_listing_read(bytes, len);
		if (!*ret)
			err = answer_nonsense(&options);
	}
	return error_wrap(err, "disassemble %s", request->name);
}
