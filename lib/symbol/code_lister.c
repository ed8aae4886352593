#include "symbol/code_lister.h"

#include "base/alloc.h"
#include "elf/disassembly.h"
#include "sandbox/answer.h"
#include "symbol/remote_opener.h"

/* The symbols of the largest programs take 200 MB, capstone's detail of a large function 50 MB. */
enum { MEMORY_BYTES = 512 << 20, CPU_SECONDS = 10 };

/* 400,000 instructions. */
enum { LISTING_BYTES_MAX = 16 << 20 };

/* A program asks for at most four debug files, each of a few candidates. */
enum { QUESTIONS_MAX = 64 };

/* The confined process. */
static void list(struct channel *channel, void *user)
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

struct questions {
	const struct debugfile_opener *opener;
	unsigned count;
};

static bool take_question(void *user, struct channel *channel,
			  const struct channel_message *message)
{
	struct questions *questions = user;

	return message->kind == REMOTE_OPENER_QUESTION && questions->count++ < QUESTIONS_MAX &&
	       remote_opener_answer(channel, message, questions->opener);
}

struct error *code_lister_run(const struct code_listing_request *request, struct code_listing **ret)
{
	struct questions questions = {.opener = &request->opener};
	const struct answer_options options = {
		.what = "it",
		.limits = {.memory_bytes = MEMORY_BYTES, .cpu_seconds = CPU_SECONDS},
		.bytes_max = LISTING_BYTES_MAX,
		.take = take_question,
		.user = &questions,
	};
	struct error *err = disassembly_load();
	char *bytes = NULL;
	size_t len = 0;

	if (!err)
		err = answer_ask(&options, list, (void *)request, &bytes, &len);
	if (!err) {
		*ret = code_listing_read(bytes, len);
		if (!*ret)
			err = answer_nonsense(&options);
	}
	return error_wrap(err, "disassemble %s", request->name);
}
