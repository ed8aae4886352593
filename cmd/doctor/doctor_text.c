#include "cmd/doctor/doctor.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"

#include <string.h>

enum {
	STATE_COLUMNS = 9,    /* "limited  " */
	SUBJECT_COLUMNS = 19, /* "hardware counters  " */
	WEIGHT_COLUMNS = 9,
	ORIGIN_COLUMNS = 18, /* "exported symbols  " */
	UNWEIGHED_MAX = 20,  /* maximum number of modules without samples to show */
};

struct doctor_text_writer {
	const struct pager *pager;
	FILE *out;
	bool verbose;
};

static void put_styled(const struct doctor_text_writer *writer, enum style style, int columns,
		       const char *text)
{
	bool is_plain = style == STYLE_PLAIN;

	fprintf(writer->out, "%s%s%s%*s", is_plain ? "" : pager_sequence(writer->pager, style),
		text, is_plain ? "" : pager_sequence(writer->pager, STYLE_PLAIN),
		(int)strlen(text) < columns ? columns - (int)strlen(text) : 0, "");
}

static enum style style_of_state(enum finding_state state)
{
	static const enum style styles[] = {
		[FINDING_OK] = STYLE_LESS,
		[FINDING_LIMITED] = STYLE_WARM,
		[FINDING_MISSING] = STYLE_HOT,
	};

	return styles[state];
}

/* Prints text on a line of its own below a row, in printable form. Does nothing
 * if text is NULL. */
static void put_below(const struct doctor_text_writer *writer, int indent, enum style style,
		      const char *label, const char *text)
{
	CLEANUP(free_ptr) char *shown = text ? printable(text) : NULL;

	if (!text)
		return;
	fprintf(writer->out, "%*s%s", indent, "", label);
	put_styled(writer, style, 0, shown);
	fputc('\n', writer->out);
}

static void doctor_text_put_finding(const struct doctor_text_writer *writer,
				    const struct finding *finding)
{
	CLEANUP(free_ptr) char *what = printable(finding->what);

	put_styled(writer, style_of_state(finding->state), STATE_COLUMNS,
		   finding_state_name(finding->state));
	put_styled(writer, STYLE_PLAIN, SUBJECT_COLUMNS, finding->subject);
	fprintf(writer->out, "%s\n", what);
	put_below(writer, STATE_COLUMNS + SUBJECT_COLUMNS, STYLE_PLAIN, "costs: ", finding->cost);
	put_below(writer, STATE_COLUMNS + SUBJECT_COLUMNS, STYLE_HEADING,
		  "helps: ", finding->command);
}

static void put_share(const struct doctor_text_writer *writer, uint64_t part, uint64_t whole)
{
	CLEANUP(free_ptr)
	char *text = xasprintf("%*s", WEIGHT_COLUMNS,
			       part ? humanize_share(part, whole).text : "-");

	put_styled(writer, style_of_share(part, whole), 0, text);
}

static void doctor_text_put_module(const struct doctor_text_writer *writer,
				   const struct module_list *list,
				   const struct listed_module *module)
{
	CLEANUP(free_ptr) char *path = printable(module->path);
	int indent = 2 + ORIGIN_COLUMNS + WEIGHT_COLUMNS * (list->samples ? 3 : 1);

	if (list->samples) {
		fprintf(writer->out, "%*s", WEIGHT_COLUMNS,
			humanize_share(module->samples, list->samples).text);
		put_share(writer, module->unnamed, list->samples);
		put_share(writer, module->lineless, list->samples);
	} else {
		fprintf(writer->out, "%*s", WEIGHT_COLUMNS,
			humanize_bytes(module->size_bytes).text);
	}
	fputs("  ", writer->out);
	put_styled(writer, style_of_state(module->state), ORIGIN_COLUMNS, module->origin);
	fprintf(writer->out, "%s\n", path);
	if (writer->verbose)
		put_below(writer, indent, STYLE_PLAIN, "debug file: ", module->debug_file);
	put_below(writer, indent, STYLE_PLAIN, "lacks: ", module->missing);
	put_below(writer, indent, STYLE_HEADING, "helps: ", module->command);
}

static bool doctor_text_is_shown(const struct doctor_text_writer *writer,
				 const struct module_list *list, const struct listed_module *module,
				 size_t shown)
{
	return writer->verbose ||
	       (module_list_matters(list, module) && (list->samples || shown < UNWEIGHED_MAX));
}

static void doctor_text_put_rest(const struct doctor_text_writer *writer, size_t fine, size_t minor)
{
	if (fine)
		fprintf(writer->out, "%zu module%s nothing%s\n", fine,
			fine == 1 ? " lacks" : "s lack", minor ? "" : " (-v lists all modules)");
	if (minor)
		fprintf(writer->out, "%zu more ha%s little effect (-v lists all modules)\n", minor,
			minor == 1 ? "s" : "ve");
}

static void doctor_text_put_modules(const struct doctor_text_writer *writer,
				    const struct module_list *list)
{
	size_t fine = 0, minor = 0, shown = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct listed_module *module = &list->items[i];

		if (!doctor_text_is_shown(writer, list, module, shown)) {
			fine += module->state == FINDING_OK;
			minor += module->state != FINDING_OK;
			continue;
		}
		if (!shown++)
			put_styled(writer, STYLE_HEADING, 0,
				   list->samples
					   ? "  samples  unnamed  no line  names from        module"
					   : "     size  names from        module");
		if (shown == 1)
			fputc('\n', writer->out);
		doctor_text_put_module(writer, list, module);
	}
	doctor_text_put_rest(writer, fine, minor);
}

void doctor_print_text(const struct diagnosis *diagnosis, bool verbose, const struct pager *pager)
{
	const struct doctor_text_writer writer = {
		.pager = pager, .out = pager->out, .verbose = verbose};

	for (size_t i = 0; i < diagnosis->findings.count; i++)
		doctor_text_put_finding(&writer, &diagnosis->findings.items[i]);
	if (diagnosis->findings.count && diagnosis->has_modules)
		fputc('\n', writer.out);
	if (diagnosis->has_modules)
		doctor_text_put_modules(&writer, &diagnosis->modules);
}
