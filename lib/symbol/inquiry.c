#include "symbol/inquiry.h"

#include "symbol/kernel_lines.h"
#include "symbol/spellings.h"

#include "base/alloc.h"

#define FUNCTION_NONE UINT32_MAX

void inquiry_deinit(struct inquiry *inquiry)
{
	close_file(&inquiry->map);
	reply_free(inquiry->reply);
	free(inquiry->functions);
	free(inquiry->spellings);
	free(inquiry->addresses);
	free(inquiry->problem);
	free(inquiry->loss);
	free(inquiry->refused);
}

void inquiry_take_reply(struct inquiry *inquiry, struct reply *reply)
{
	CLEANUP(reply_cleanup) struct reply *names = inquiry->reply;
	CLEANUP(reply_cleanup) struct reply *lines = names ? reply : NULL;

	inquiry->reply = reply;
	if (names)
		inquiry->reply = kernel_lines_join(names, lines, inquiry->count,
						   inquiry->kernel->path);
}

void inquiry_take_result(struct inquiry *inquiry, const struct engine_result *result)
{
	size_t len;
	void *bytes = reply_write(result, inquiry->count, &len);

	inquiry_take_reply(inquiry, reply_read(bytes, len, inquiry->count));
}

enum named inquiry_named(const struct inquiry *inquiry, uint32_t address)
{
	struct reply_line found[REPLY_LINES_MAX];
	unsigned count = inquiry->reply ? reply_lines(inquiry->reply, address, found) : 0;

	if (!count)
		return UNNAMED;
	return found[0].line ? NAMED_WITH_LINE : NAMED;
}

void inquiry_begin_giving(struct inquiry *inquiry)
{
	uint32_t count = inquiry->reply ? reply_function_count(inquiry->reply) : 0;

	inquiry->functions = xcalloc(count, sizeof(*inquiry->functions));
	for (uint32_t i = 0; i < count; i++)
		inquiry->functions[i] = FUNCTION_NONE;
	inquiry->spellings = inquiry->reply ? spellings_of(inquiry->reply) : NULL;
}

static string_id add_string(struct profile *profile, const struct reply *reply, uint32_t string)
{
	struct bytes text = reply_string(reply, string);

	return strtab_add_len(profile_strings(profile), (const char *)text.at, bytes_left(&text));
}

static function_id function_of(struct profile *profile, const struct inquiry *inquiry,
			       uint32_t index)
{
	struct reply_function function = reply_function(inquiry->reply, index);

	if (inquiry->functions[index] == FUNCTION_NONE)
		inquiry->functions[index] = profile_function(
			profile, &(struct profile_function){
					 .name = add_string(profile, inquiry->reply, function.name),
					 .system_name = add_string(profile, inquiry->reply,
								   function.system_name),
					 .file = add_string(profile, inquiry->reply, function.file),
					 .start_line = function.start_line,
				 });
	return inquiry->functions[index];
}

/* The start of a function without a symbol, which outputs group by. */
static void set_function_start(struct profile *profile, frame_id frame,
			       const struct inquiry *inquiry, uint32_t address)
{
	uint64_t bytes = inquiry->reply ? reply_into_function(inquiry->reply, address) : 0;

	if (bytes <= inquiry->addresses[address] && !profile_get_frame(profile, frame).line_count)
		profile_set_into_function(profile, frame, bytes);
}

static enum named set_lines(struct profile *profile, frame_id frame, const struct inquiry *inquiry,
			    uint32_t address)
{
	struct reply_line found[REPLY_LINES_MAX];
	struct profile_line lines[REPLY_LINES_MAX];
	unsigned count = inquiry->reply ? reply_lines(inquiry->reply, address, found) : 0;

	for (unsigned i = 0; i < count; i++)
		lines[i] = (struct profile_line){
			.function = function_of(profile, inquiry,
						inquiry->spellings[found[i].function]),
			.line = found[i].line,
		};
	if (!count)
		return UNNAMED;
	/* It may have a name without a line already. */
	if (lines[0].line || !profile_get_frame(profile, frame).line_count)
		profile_set_lines(profile, frame, lines, count);
	return lines[0].line ? NAMED_WITH_LINE : NAMED;
}

void inquiry_give(struct inquiry *inquiry, uint32_t address, struct profile *profile,
		  frame_id frame)
{
	enum named named = set_lines(profile, frame, inquiry, address);

	if (named == UNNAMED)
		set_function_start(profile, frame, inquiry, address);
	inquiry->unnamed += named == UNNAMED;
	inquiry->lineless += named == NAMED;
}
