#include "report/row_table.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>

static const struct row_by functions = {.key = ROW_FUNCTION};

/* Self weights: hot 50, warm 30, cool 15, cold 5. main has only a total. */
static struct profile *fire(void)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", true);
	label_set_id thread = profile_thread_labels(profile, 7, 8, "forge", "smith");

	profile_add(profile, thread, STACK(profile, "main", "hot"), event, 50);
	profile_add(profile, thread, STACK(profile, "main", "warm"), event, 30);
	profile_add(profile, thread, STACK(profile, "main", "cool"), event, 15);
	profile_add(profile, thread, STACK(profile, "main", "cold"), event, 5);
	return profile;
}

/* Returns "hot warm | 2 hidden with 20". The caller frees it. */
static char *table_of(const struct row_table_options *options)
{
	CLEANUP(profile_cleanup) struct profile *profile = fire();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;
	CLEANUP(row_table_deinit) struct row_table table;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	view_init(&view, profile, 0);
	rows_init(&rows, &view, options->by.key);
	rows_sort(&rows, options->order);
	row_table_init(&table, &view, &rows, options);
	for (size_t i = 0; i < table.count; i++) {
		CLEANUP(free_ptr)
		char *name = row_table_cell(&table, row_table_row(&table, i), ROW_NAME);

		fprintf(out, "%s ", name);
	}
	fprintf(out, "| %zu hidden with %llu", table.hidden_count,
		(unsigned long long)table.hidden_weight);
	fclose(out);
	return text;
}

TEST(rows_below_the_least_weight_are_hidden)
{
	CLEANUP(free_ptr)
	char *by_self = table_of(&(struct row_table_options){.by = functions, .least_self = 20});
	CLEANUP(free_ptr)
	char *by_total = table_of(&(struct row_table_options){
		.by = functions, .order = ROWS_BY_TOTAL, .least_total = 40});

	assert_string_equal(by_self, "hot warm | 2 hidden with 20");
	assert_string_equal(by_total, "main hot | 3 hidden with 50");
}

TEST(a_limit_hides_the_rows_after_it)
{
	CLEANUP(free_ptr)
	char *text = table_of(&(struct row_table_options){.by = functions, .limit = 3});

	assert_string_equal(text, "hot warm cool | 1 hidden with 5");
}

TEST(a_filter_leaves_out_rows_without_counting_them)
{
	regex_t regex;
	CLEANUP(free_ptr) char *text = NULL;

	assert_int_equal(regcomp(&regex, "^c", REG_EXTENDED | REG_NOSUB), 0);
	text = table_of(
		&(struct row_table_options){.by = functions, .filter = &regex, .least_self = 10});
	regfree(&regex);
	assert_string_equal(text, "cool | 1 hidden with 5");
}

TEST(a_thread_is_named_with_its_number_and_its_process_in_detail)
{
	CLEANUP(profile_cleanup) struct profile *profile = fire();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;
	CLEANUP(row_table_deinit) struct row_table table;
	CLEANUP(free_ptr) char *name = NULL;
	CLEANUP(free_ptr) char *detail = NULL;

	view_init(&view, profile, 0);
	rows_init(&rows, &view, ROW_THREAD);
	row_table_init(&table, &view, &rows, &(struct row_table_options){.by.key = ROW_THREAD});
	name = row_table_cell(&table, row_table_row(&table, 0), ROW_NAME);
	detail = row_table_cell(&table, row_table_row(&table, 0), ROW_DETAIL);
	assert_string_equal(name, "smith 8");
	assert_string_equal(detail, "forge");
	assert_string_equal(row_table_heading(&table, ROW_DETAIL), "process");
	assert_int_equal(row_table_columns(&table, ROW_NAME), 7);
	assert_int_equal(table.longest_bar, 100);
}
