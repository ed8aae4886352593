#include "report/ipc.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Adds a count of one event to samples of this function. */
static void add(struct profile *profile, const char *function, event_id event, uint64_t samples,
		uint64_t weight)
{
	profile_add_samples(profile, profile_thread_labels(profile, 1, 1, "p", "p"),
			    STACK(profile, "main", function), event, samples, weight);
}

/*
 * Makes a program with cycles and instructions: sum has 2.50 per cycle, chase
 * 0.25, mul 1. rare has few samples, idle has no instructions, odd has no
 * cycles.
 */
static struct profile *program(void)
{
	struct profile *profile = profile_new();
	event_id cycles = add_event(profile, "cycles:u", VALUE_COUNT);
	event_id instructions = add_event(profile, "instructions:u", VALUE_COUNT);

	add(profile, "sum", cycles, 40, 4000);
	add(profile, "sum", instructions, 40, 10000);
	add(profile, "chase", cycles, 100, 10000);
	add(profile, "chase", instructions, 100, 2500);
	add(profile, "mul", cycles, IPC_LEAST_SAMPLES, 1000);
	add(profile, "mul", instructions, IPC_LEAST_SAMPLES, 1000);
	add(profile, "rare", cycles, IPC_LEAST_SAMPLES, 1000);
	add(profile, "rare", instructions, IPC_LEAST_SAMPLES - 1, 500);
	add(profile, "idle", cycles, 10, 1000);
	add(profile, "odd", instructions, 10, 1000);
	return profile;
}

/* Returns "sum 2.50, main -", the largest first, or the value of all rows. The
 * caller frees it. */
static char *text_of_rows(event_id shown, const struct row_by *by)
{
	CLEANUP(profile_cleanup) struct profile *profile = program();
	CLEANUP(view_deinit) struct view view;
	CLEANUP(rows_deinit) struct rows rows;
	CLEANUP(ipc_deinit) struct ipc ipc = {0};
	struct view other;
	event_id event;
	double ratio;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	view_init(&view, profile, shown);
	assert_null(rows_init_by(&rows, &view, by));
	assert_true(ipc_counterpart(profile, shown, &event));
	view_init(&other, profile, event);
	assert_null(ipc_init(&ipc, &other, by));
	for (size_t i = 0; i < rows.count; i++) {
		fprintf(out, "%s ", rows.items[i].name);
		if (ipc_of_row(&ipc, &rows.items[i], &ratio))
			fprintf(out, "%.2f, ", ratio);
		else
			fputs("-, ", out);
	}
	assert_true(ipc_of_all(&ipc, &rows, &ratio));
	fprintf(out, "all %.2f", ratio);
	fclose(out);
	return text;
}

TEST(instructions_of_a_function_are_divided_by_its_cycles)
{
	CLEANUP(free_ptr) char *text = text_of_rows(0, &(struct row_by){.key = ROW_FUNCTION});

	assert_string_equal(text, "chase 0.25, sum 2.50, idle -, mul 1.00, rare -, main -, "
				  "all 0.88");
}

TEST(a_view_of_instructions_has_the_same_ratios)
{
	CLEANUP(free_ptr) char *text = text_of_rows(1, &(struct row_by){.key = ROW_FUNCTION});

	assert_string_equal(text, "sum 2.50, chase 0.25, mul 1.00, odd -, rare -, main -, "
				  "all 0.88");
}

TEST(processes_and_threads_have_ratios_too)
{
	CLEANUP(free_ptr) char *process = text_of_rows(0, &(struct row_by){.key = ROW_PROCESS});
	CLEANUP(free_ptr) char *thread = text_of_rows(0, &(struct row_by){.key = ROW_THREAD});

	assert_string_equal(process, "p 0.88, all 0.88");
	assert_string_equal(thread, "p 0.88, all 0.88");
}

/* Returns the name of the counterpart of the first event, or "". */
static const char *counterpart_of(struct profile *profile, const char *const *names)
{
	event_id event;

	for (; *names; names++)
		add_event(profile, *names, VALUE_COUNT);
	if (!ipc_counterpart(profile, 0, &event))
		return "";
	return profile_string(profile, profile_get_event(profile, event)->name);
}

#define ASSERT_COUNTERPART(expected, ...)                                                          \
	do {                                                                                       \
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();                  \
                                                                                                   \
		assert_string_equal(                                                               \
			counterpart_of(profile, (const char *const[]){__VA_ARGS__, NULL}),         \
			expected);                                                                 \
	} while (0)

TEST(the_counterpart_is_of_the_same_pmu_and_modes)
{
	ASSERT_COUNTERPART("instructions", "cycles", "instructions:u", "instructions");
	ASSERT_COUNTERPART("instructions:u", "cycles:ppu", "instructions", "instructions:u");
	ASSERT_COUNTERPART("cycles:uk", "instructions:ku", "cycles:u", "cycles:uk");
	ASSERT_COUNTERPART("instructions", "cpu-cycles:P", "instructions");
	ASSERT_COUNTERPART("instructions/period=9/u", "cycles/period=7/u",
			   "instructions/period=9/u");
	ASSERT_COUNTERPART("cpu_atom/instructions/", "cpu_atom/cycles/", "cpu_core/instructions/",
			   "cpu_atom/instructions/");
	ASSERT_COUNTERPART("cpu_core/cycles,period=7/u", "cpu_core/instructions/u",
			   "cpu_core/cycles/k", "cpu_core/cycles,period=7/u");
}

TEST(other_events_have_no_counterpart)
{
	ASSERT_COUNTERPART("", "cycles");
	ASSERT_COUNTERPART("", "cycles:u", "instructions:k");
	ASSERT_COUNTERPART("", "cpu_core/cycles/", "cpu_atom/instructions/", "instructions");
	ASSERT_COUNTERPART("", "bus-cycles", "instructions", "cycles");
	ASSERT_COUNTERPART("", "cpu-clock", "instructions", "cycles");
}
