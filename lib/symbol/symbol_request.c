#include "symbol/symbol_request.h"

#include "symbol/kernel_lines.h"
#include "symbol/name_aliases.h"

#include "base/alloc.h"

#define FUNCTION_NONE UINT32_MAX

void symbol_request_deinit(struct symbol_request *request)
{
	close_file(&request->map);
	reply_free(request->reply);
	free(request->functions);
	free(request->name_aliases);
	free(request->addresses);
	free(request->problem);
	free(request->loss);
	free(request->refused);
}

void symbol_request_take_reply(struct symbol_request *request, struct reply *reply)
{
	CLEANUP(reply_cleanup) struct reply *names = request->reply;
	CLEANUP(reply_cleanup) struct reply *lines = names ? reply : NULL;

	request->reply = reply;
	if (names)
		request->reply = kernel_lines_join(names, lines, request->count,
						   request->kernel->path);
}

void symbol_request_take_result(struct symbol_request *request, const struct engine_result *result)
{
	size_t len;
	void *bytes = reply_write(result, request->count, &len);

	symbol_request_take_reply(request, reply_read(bytes, len, request->count));
}

enum named symbol_request_named(const struct symbol_request *request, uint32_t address)
{
	struct reply_line found[REPLY_LINES_MAX];
	unsigned count = request->reply ? reply_lines(request->reply, address, found) : 0;

	if (!count)
		return UNNAMED;
	return found[0].line ? NAMED_WITH_LINE : NAMED;
}

void symbol_request_begin_giving(struct symbol_request *request)
{
	uint32_t count = request->reply ? reply_function_count(request->reply) : 0;

	request->functions = xcalloc(count, sizeof(*request->functions));
	for (uint32_t i = 0; i < count; i++)
		request->functions[i] = FUNCTION_NONE;
	request->name_aliases = request->reply ? name_aliases_of(request->reply) : NULL;
}

static string_id symbol_request_add_string(struct profile *profile, const struct reply *reply,
					   uint32_t string)
{
	struct bytes text = reply_string(reply, string);

	return strtab_add_len(profile_strings(profile), (const char *)text.at, bytes_left(&text));
}

static function_id symbol_request_function_of(struct profile *profile,
					      const struct symbol_request *request, uint32_t index)
{
	struct reply_function function = reply_function(request->reply, index);

	if (request->functions[index] == FUNCTION_NONE)
		request->functions[index] = profile_function(
			profile, &(struct profile_function){
					 .name = symbol_request_add_string(profile, request->reply,
									   function.name),
					 .system_name = symbol_request_add_string(
						 profile, request->reply, function.system_name),
					 .file = symbol_request_add_string(profile, request->reply,
									   function.file),
					 .start_line = function.start_line,
				 });
	return request->functions[index];
}

/*
 * Sets the start of a function without a symbol, which outputs use to group
 * frames.
 */
static void set_function_start(struct profile *profile, frame_id frame,
			       const struct symbol_request *request, uint32_t address)
{
	uint64_t bytes = request->reply ? reply_into_function(request->reply, address) : 0;

	if (bytes <= request->addresses[address] && !profile_get_frame(profile, frame).line_count)
		profile_set_into_function(profile, frame, bytes);
}

static enum named set_lines(struct profile *profile, frame_id frame,
			    const struct symbol_request *request, uint32_t address)
{
	struct reply_line found[REPLY_LINES_MAX];
	struct profile_line lines[REPLY_LINES_MAX];
	unsigned count = request->reply ? reply_lines(request->reply, address, found) : 0;

	for (unsigned i = 0; i < count; i++)
		lines[i] = (struct profile_line){
			.function = symbol_request_function_of(
				profile, request, request->name_aliases[found[i].function]),
			.line = found[i].line,
		};
	if (!count)
		return UNNAMED;
	/* The frame may already have a name without a line. */
	if (lines[0].line || !profile_get_frame(profile, frame).line_count)
		profile_set_lines(profile, frame, lines, count);
	return lines[0].line ? NAMED_WITH_LINE : NAMED;
}

void symbol_request_give(struct symbol_request *request, uint32_t address, struct profile *profile,
			 frame_id frame)
{
	enum named named = set_lines(profile, frame, request, address);

	if (named == UNNAMED)
		set_function_start(profile, frame, request, address);
	request->unnamed += named == UNNAMED;
	request->lineless += named == NAMED;
}
