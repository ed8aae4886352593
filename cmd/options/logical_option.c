#include "cmd/options/logical_option.h"

struct error *logical_option_take(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"yes", LOGICAL_YES}, {"no", LOGICAL_NO}, {0}};

	return option_choice("choice", choices, argument ? argument : "yes", field);
}
