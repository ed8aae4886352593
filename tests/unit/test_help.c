/* The option tables of all commands. Their text is checked by tests/cli/test_help.py. */
#include "cmd/command.h"
#include "cmd/ui/options.h"

#include "unit_test.h"

#include <ctype.h>
#include <string.h>

enum { SUMMARY_COLUMNS = 52 };

static void assert_is_listed(const struct option_entry *entry)
{
	const char *end = strstr(entry->help, "; ");
	size_t len = end ? (size_t)(end - entry->help) : strlen(entry->help);

	assert_in_range(entry->group, GROUP_TARGET, GROUP_PUSH);
	assert_true(islower((unsigned char)entry->help[0]));
	if (entry->is_common)
		assert_in_range(len, 1, SUMMARY_COLUMNS);
}

TEST(an_option_with_a_help_has_a_group_and_a_common_one_a_short_summary)
{
	for (const struct command *const *command = commands; *command; command++) {
		for (const struct option_entry *entry = (*command)->options; !option_is_end(entry);
		     entry++) {
			if (entry->help)
				assert_is_listed(entry);
			else
				assert_int_equal(entry->group, GROUP_NONE);
		}
	}
}
