#include "format/firefox/tables.h"

#include "base/alloc.h"
#include "report/waiting.h"
#include "report/waiting_place.h"

#include <stdlib.h>
#include <string.h>

/* The table that is being written. */
struct tables_table {
	struct firefox_tables *tables;
	struct json *json;
	uint32_t rows;
};

typedef void put_cell(struct tables_table *table, uint32_t row);

static void put_column(struct tables_table *table, const char *name, put_cell *cell)
{
	json_key(table->json, name);
	json_begin_array(table->json);
	for (uint32_t row = 0; row < table->rows; row++)
		cell(table, row);
	json_end_array(table->json);
}

static struct tables_table begin_table(struct firefox_tables *tables, struct json *json,
				       const char *name, uint32_t rows)
{
	json_key(json, name);
	json_begin_object(json);
	json_put_number(json, "length", rows);
	return (struct tables_table){.tables = tables, .json = json, .rows = rows};
}

static void put_null(struct tables_table *table, uint32_t row)
{
	(void)row;
	json_null(table->json);
}

static void put_zero(struct tables_table *table, uint32_t row)
{
	(void)row;
	json_number(table->json, 0);
}

static void put_one(struct tables_table *table, uint32_t row)
{
	(void)row;
	json_number(table->json, 1);
}

static void put_false(struct tables_table *table, uint32_t row)
{
	(void)row;
	json_bool(table->json, false);
}

static void tables_put_row(struct tables_table *table, uint32_t row)
{
	json_number(table->json, row);
}

/* Writes null for 0, which means unknown. */
static void put_line_number(struct tables_table *table, uint32_t line)
{
	if (line)
		json_number(table->json, line);
	else
		json_null(table->json);
}

static void tables_put_stacks(struct firefox_tables *tables, struct json *json)
{
	const struct profile *profile = tables->profile;
	const struct profile_stacks all_stacks = profile_stacks(profile);
	const uint32_t *first_line = tables->labels.first_line;
	uint32_t stacks = all_stacks.count;
	struct tables_table table = begin_table(
		tables, json, "stackTable", stacks > 1 ? tables->stack_rows[stacks - 1] + 1 : 0);

	json_key(json, "frame");
	json_begin_array(json);
	for (stack_id i = 1; i < stacks; i++) {
		frame_id frame = all_stacks.items[i].frame;

		for (uint32_t line = first_line[frame]; line < first_line[frame + 1]; line++)
			json_number(json, line);
	}
	json_end_array(json);
	json_key(json, "prefixOffset");
	json_begin_array(json);
	for (stack_id i = 1; i < stacks; i++) {
		struct profile_stack stack = all_stacks.items[i];
		uint32_t lines = first_line[stack.frame + 1] - first_line[stack.frame];
		uint32_t outermost = tables->stack_rows[i] - (lines - 1);

		json_number(json, stack.parent == STACK_EMPTY
					  ? 0
					  : outermost - tables->stack_rows[stack.parent]);
		for (uint32_t line = 1; line < lines; line++)
			json_number(json, 1);
	}
	json_end_array(json);
	json_end_object(table.json);
}

static uint32_t label_of_row(const struct tables_table *table, uint32_t row)
{
	return table->tables->labels.lines[row].label;
}

static enum firefox_category category_of(const struct tables_table *table, uint32_t row)
{
	static const enum firefox_category categories[] = {
		[CODE_USER] = FIREFOX_USER,
		[CODE_INLINED] = FIREFOX_INLINED,
		[CODE_KERNEL] = FIREFOX_KERNEL,
		[CODE_JIT] = FIREFOX_JIT,
		[CODE_INTERPRETED] = FIREFOX_INTERPRETED,
		[CODE_NAMELESS] = FIREFOX_UNSYMBOLIZED,
		[CODE_NOTE] = FIREFOX_NOTE,
	};
	const struct display_labels *labels = &table->tables->labels;
	uint32_t label = label_of_row(table, row);

	if (table->tables->reasons[label])
		return table->tables->reasons[label];
	return categories[display_labels_code(labels, label, labels->lines[row].is_inlined)];
}

static void put_category(struct tables_table *table, uint32_t row)
{
	json_number(table->json, category_of(table, row));
}

static void tables_put_function(struct tables_table *table, uint32_t row)
{
	json_number(table->json, label_of_row(table, row));
}

static void tables_put_line(struct tables_table *table, uint32_t row)
{
	put_line_number(table, table->tables->labels.lines[row].line);
}

/*
 * Kernel addresses are too large for JavaScript's numbers, and the viewer does
 * not need them. Interpreted and synthetic frames have none.
 */
static void put_address(struct json *json, const struct profile *profile, frame_id frame)
{
	uint64_t address = profile_frame_address(profile, frame);
	uint32_t module = profile_get_frame(profile, frame).module;
	enum profile_module_kind kind = profile_get_module(profile, module)->kind;

	if (address <= INT32_MAX && kind != PROFILE_MODULE_SYNTHETIC &&
	    kind != PROFILE_MODULE_INTERPRETED)
		json_number(json, address);
	else
		json_signed(json, -1);
}

/* Writes the columns that depend on the frame, not on a single line of it. */
static void put_places(struct tables_table *table)
{
	const uint32_t *first_line = table->tables->labels.first_line;
	uint32_t frames = profile_frame_count(table->tables->profile);

	json_key(table->json, "address");
	json_begin_array(table->json);
	for (frame_id frame = 0; frame < frames; frame++)
		for (uint32_t line = first_line[frame]; line < first_line[frame + 1]; line++)
			put_address(table->json, table->tables->profile, frame);
	json_end_array(table->json);
	json_key(table->json, "inlineDepth");
	json_begin_array(table->json);
	for (frame_id frame = 0; frame < frames; frame++)
		for (uint32_t line = first_line[frame]; line < first_line[frame + 1]; line++)
			json_number(table->json, line - first_line[frame]);
	json_end_array(table->json);
}

static void tables_put_frames(struct firefox_tables *tables, struct json *json)
{
	uint32_t rows = tables->labels.first_line[profile_frame_count(tables->profile)];
	struct tables_table table = begin_table(tables, json, "frameTable", rows);

	put_places(&table);
	put_column(&table, "category", put_category);
	put_column(&table, "subcategory", put_zero);
	put_column(&table, "func", tables_put_function);
	put_column(&table, "nativeSymbol", put_null);
	put_column(&table, "innerWindowID", put_null);
	put_column(&table, "line", tables_put_line);
	put_column(&table, "column", put_null);
	put_column(&table, "originalLocation", put_null);
	json_end_object(json);
}

static const struct label *tables_label_at(const struct tables_table *table, uint32_t row)
{
	return &table->tables->labels.items[row];
}

static void tables_put_name(struct tables_table *table, uint32_t row)
{
	const char *name = tables_label_at(table, row)->shown;

	json_number(table->json, firefox_string(table->tables, *name ? name : "[unnamed]"));
}

static void put_resource(struct tables_table *table, uint32_t row)
{
	uint32_t lib = idmap_get(&table->tables->lib_of_module, tables_label_at(table, row)->module,
				 0);

	json_signed(table->json, lib == IDMAP_NONE ? -1 : (int64_t)lib);
}

static void tables_put_source(struct tables_table *table, uint32_t row)
{
	uint32_t source = idmap_get(&table->tables->source_of_file,
				    tables_label_at(table, row)->file, 0);

	if (source == IDMAP_NONE)
		json_null(table->json);
	else
		json_number(table->json, source);
}

static void put_start_line(struct tables_table *table, uint32_t row)
{
	put_line_number(table, tables_label_at(table, row)->start_line);
}

static void tables_put_functions(struct firefox_tables *tables, struct json *json)
{
	struct tables_table table = begin_table(tables, json, "funcTable", tables->labels.count);

	put_column(&table, "name", tables_put_name);
	put_column(&table, "isJS", put_false);
	put_column(&table, "relevantForJS", put_false);
	put_column(&table, "resource", put_resource);
	put_column(&table, "source", tables_put_source);
	put_column(&table, "lineNumber", put_start_line);
	put_column(&table, "columnNumber", put_null);
	put_column(&table, "originalLocation", put_null);
	json_end_object(json);
}

static const char *path_of_lib(const struct firefox_tables *tables, uint32_t lib)
{
	return profile_string(tables->profile,
			      profile_get_module(tables->profile, tables->libs[lib])->path);
}

static void put_lib_name(struct tables_table *table, uint32_t row)
{
	json_number(table->json,
		    firefox_string(table->tables, basename(path_of_lib(table->tables, row))));
}

/* One library per module. */
static void put_resources(struct firefox_tables *tables, struct json *json)
{
	struct tables_table table = begin_table(tables, json, "resourceTable", tables->lib_count);

	put_column(&table, "lib", tables_put_row);
	put_column(&table, "name", put_lib_name);
	put_column(&table, "host", put_null);
	put_column(&table, "type", put_one);
	json_end_object(json);
}

static void put_file_name(struct tables_table *table, uint32_t row)
{
	json_number(table->json,
		    firefox_string(table->tables, profile_string(table->tables->profile,
								 table->tables->sources[row])));
}

static void tables_put_sources(struct firefox_tables *tables, struct json *json)
{
	struct tables_table table = begin_table(tables, json, "sources", tables->source_count);

	put_column(&table, "id", put_null);
	put_column(&table, "filename", put_file_name);
	put_column(&table, "startLine", put_one);
	put_column(&table, "startColumn", put_one);
	put_column(&table, "sourceMapURL", put_null);
	put_column(&table, "content", put_null);
	json_end_object(json);
}

/*
 * Writes the tables that prof leaves empty: native symbols and source map
 * locations.
 */
static void put_empty_tables(struct firefox_tables *tables, struct json *json)
{
	struct tables_table table = begin_table(tables, json, "nativeSymbols", 0);

	put_column(&table, "libIndex", put_null);
	put_column(&table, "address", put_null);
	put_column(&table, "name", put_null);
	put_column(&table, "functionSize", put_null);
	json_end_object(json);
	table = begin_table(tables, json, "sourceLocationTable", 0);
	put_column(&table, "source", put_null);
	put_column(&table, "line", put_null);
	put_column(&table, "column", put_null);
	json_end_object(json);
}

void firefox_put_shared(struct firefox_tables *tables, struct json *json)
{
	json_key(json, "shared");
	json_begin_object(json);
	tables_put_stacks(tables, json);
	tables_put_frames(tables, json);
	tables_put_functions(tables, json);
	put_resources(tables, json);
	tables_put_sources(tables, json);
	put_empty_tables(tables, json);
	json_key(json, "stringArray");
	json_begin_array(json);
	for (string_id i = 0; i < strtab_count(tables->strings); i++)
		json_text(json, strtab_get(tables->strings, i));
	json_end_array(json);
	json_end_object(json);
}

/*
 * Computes the Breakpad id of a build-id: the first 16 bytes as a GUID, whose
 * first three numbers are little-endian, followed by a 0. It is "" if the
 * build-id is shorter. Source: Breakpad's src/common/linux/file_id.cc.
 */
static void breakpad_id(const char *build_id, char id[static 34])
{
	static const unsigned char order[16] = {3, 2, 1,  0,  5,  4,  7,  6,
						8, 9, 10, 11, 12, 13, 14, 15};

	id[0] = '\0';
	if (strlen(build_id) < 32)
		return;
	for (unsigned i = 0; i < 16; i++)
		for (unsigned digit = 0; digit < 2; digit++) {
			char c = build_id[order[i] * 2 + digit];

			id[i * 2 + digit] = (char)(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
		}
	id[32] = '0';
	id[33] = '\0';
}

static void put_lib(const struct firefox_tables *tables, struct json *json, uint32_t lib)
{
	const struct profile_module *module = profile_get_module(tables->profile,
								 tables->libs[lib]);
	const char *path = path_of_lib(tables, lib), *name = basename(path);
	const char *build_id = profile_string(tables->profile, module->build_id);
	char id[34];

	breakpad_id(build_id, id);
	json_begin_object(json);
	json_put_text(json, "arch", "");
	json_put_text(json, "name", name);
	json_put_text(json, "path", path);
	json_put_text(json, "debugName", name);
	json_put_text(json, "debugPath", path);
	json_put_text(json, "breakpadId", id);
	json_key(json, "codeId");
	if (*build_id)
		json_text(json, build_id);
	else
		json_null(json);
	json_end_object(json);
}

void firefox_put_libs(const struct firefox_tables *tables, struct json *json)
{
	json_key(json, "libs");
	json_begin_array(json);
	for (uint32_t i = 0; i < tables->lib_count; i++)
		put_lib(tables, json, i);
	json_end_array(json);
}

static void add_lib(struct firefox_tables *tables, uint32_t module)
{
	uint32_t *lib;

	if (!profile_get_module(tables->profile, module)->path)
		return;
	lib = idmap_put(&tables->lib_of_module, module, 0);
	if (*lib != IDMAP_NONE)
		return;
	*lib = tables->lib_count;
	GROW(tables->libs, tables->lib_count, tables->lib_room);
	tables->libs[tables->lib_count++] = module;
}

static void tables_add_source(struct firefox_tables *tables, string_id file)
{
	uint32_t *source;

	if (!file)
		return;
	source = idmap_put(&tables->source_of_file, file, 0);
	if (*source != IDMAP_NONE)
		return;
	*source = tables->source_count;
	GROW(tables->sources, tables->source_count, tables->source_room);
	tables->sources[tables->source_count++] = file;
}

/* Finds the leaves of off-CPU stacks. */
static void tables_find_reasons(struct firefox_tables *tables)
{
	const struct profile *profile = tables->profile;
	const struct profile_samples samples = profile_samples(profile);
	const struct display_labels *labels = &tables->labels;
	event_id waiting;

	tables->reasons = xcalloc(labels->count, sizeof(*tables->reasons));
	if (!waiting_event(profile, &waiting))
		return;
	for (uint64_t i = 0; i < samples.count; i++) {
		stack_id stack = waiting_reason(profile, samples.items[i].stack);
		uint32_t label;

		if (samples.items[i].event != waiting || stack == STACK_EMPTY)
			continue;
		label = labels->lines
				[labels->first_line[profile_stacks(profile).items[stack].frame]]
					.label;
		tables->reasons[label] = waiting_is_runnable(labels->items[label].name)
						 ? FIREFOX_RUNNABLE
						 : FIREFOX_WAITING;
	}
}

void firefox_tables_init(struct firefox_tables *tables, const struct profile *profile,
			 enum name_style names)
{
	const struct profile_stacks all_stacks = profile_stacks(profile);
	uint32_t stacks = all_stacks.count, row = 0;
	const uint32_t *first_line;

	*tables = (struct firefox_tables){.profile = profile, .strings = strtab_new()};
	display_labels_init_named(&tables->labels, profile, names);
	tables_find_reasons(tables);
	first_line = tables->labels.first_line;
	for (uint32_t i = 0; i < tables->labels.count; i++) {
		add_lib(tables, tables->labels.items[i].module);
		tables_add_source(tables, tables->labels.items[i].file);
	}
	tables->stack_rows = xcalloc(stacks, sizeof(*tables->stack_rows));
	for (stack_id i = 1; i < stacks; i++) {
		frame_id frame = all_stacks.items[i].frame;

		row += first_line[frame + 1] - first_line[frame];
		tables->stack_rows[i] = row - 1;
	}
}

void firefox_tables_deinit(struct firefox_tables *tables)
{
	display_labels_deinit(&tables->labels);
	strtab_free(tables->strings);
	free(tables->stack_rows);
	free(tables->libs);
	free(tables->sources);
	free(tables->reasons);
	idmap_deinit(&tables->lib_of_module);
	idmap_deinit(&tables->source_of_file);
	*tables = (struct firefox_tables){0};
}

uint32_t firefox_string(struct firefox_tables *tables, const char *text)
{
	return strtab_add(tables->strings, text);
}
