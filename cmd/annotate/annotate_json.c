#include "base/json.h"
#include "cmd/annotate/annotate.h"
#include "cmd/json_sum.h"

#include <string.h>

/* Raised when a member changes its meaning or is removed. */
#define ANNOTATE_SCHEMA "prof-annotate/1"

struct annotate_json_writer {
	const struct annotation *annotation;
	struct json json;
	bool counts_samples;
};

static const char *annotate_json_text_of(const struct annotate_json_writer *writer, string_id id)
{
	return profile_string(writer->annotation->profile, id);
}

static void put_tally(struct annotate_json_writer *writer, const struct tally *sum)
{
	json_put_sum(&writer->json, "self", sum->self, writer->counts_samples);
	json_put_sum(&writer->json, "total", sum->total, writer->counts_samples);
}

static void annotate_json_put_function(struct annotate_json_writer *writer)
{
	const struct annotation *annotation = writer->annotation;
	const struct label *label = &annotation->view.labels.items[annotation->label];
	const struct profile_module *module = profile_get_module(annotation->profile,
								 label->module);

	json_key(&writer->json, "function");
	json_begin_object(&writer->json);
	json_put_text(&writer->json, "name", label->shown);
	json_put_known(&writer->json, "module", annotate_json_text_of(writer, module->path));
	json_put_known(&writer->json, "file", annotate_json_text_of(writer, label->file));
	if (label->start_line)
		json_put_number(&writer->json, "line", label->start_line);
	json_put_number(&writer->json, "instances", annotation->instances);
	put_tally(writer, &annotation->sums.all);
	json_end_object(&writer->json);
}

static void annotate_json_put_line(struct annotate_json_writer *writer, const struct line_sum *line)
{
	json_begin_object(&writer->json);
	json_put_known(&writer->json, "file", annotate_json_text_of(writer, line->file));
	if (line->line)
		json_put_number(&writer->json, "line", line->line);
	put_tally(writer, &line->sum);
	json_end_object(&writer->json);
}

static void annotate_json_put_instruction(struct annotate_json_writer *writer,
					  const struct annotated_code *piece, size_t i)
{
	const struct listed_instruction *instruction = &piece->function->items[i];

	json_begin_object(&writer->json);
	json_put_number(&writer->json, "address", instruction->vaddr);
	json_put_number(&writer->json, "size", instruction->size_bytes);
	json_put_text(&writer->json, "text", instruction->text);
	put_tally(writer, &piece->sums[i]);
	json_end_object(&writer->json);
}

void annotate_json(const struct annotation *annotation, FILE *out)
{
	struct annotate_json_writer writer = {
		.annotation = annotation,
		.json = json_to(out),
		.counts_samples = profile_counts_samples(annotation->profile,
							 annotation->view.event),
	};
	struct json *json = &writer.json;
	const struct profile_event *event = profile_get_event(annotation->profile,
							      annotation->view.event);

	json_begin_object(json);
	json_put_text(json, "schema", ANNOTATE_SCHEMA);
	json_put_text(json, "profile", annotation->path);
	json_put_text(json, "event", annotate_json_text_of(&writer, event->name));
	json_put_sum(json, "all", annotation->view.stacks[STACK_EMPTY].total,
		     writer.counts_samples);
	annotate_json_put_function(&writer);
	json_key(json, "lines");
	json_begin_array(json);
	for (uint32_t i = 0; i < annotation->sums.line_count; i++)
		if (annotation->sums.lines[i].sum.total.samples)
			annotate_json_put_line(&writer, &annotation->sums.lines[i]);
	json_end_array(json);
	if (annotation->options->shows_code) {
		json_key(json, "instructions");
		json_begin_array(json);
		for (size_t i = 0; i < annotation->piece_count; i++)
			for (size_t j = 0; j < annotation->pieces[i].function->count; j++)
				annotate_json_put_instruction(&writer, &annotation->pieces[i], j);
		json_end_array(json);
	}
	json_end_object(json);
	fputc('\n', out);
}
