#include "cmd/options/symbol_entries.h"

struct error *take_symbolizer(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"auto", SYMBOLIZER_AUTO},
						       {"fast", SYMBOLIZER_FAST},
						       {"libdw", SYMBOLIZER_LIBDW},
						       {0}};
	int choice;
	struct error *err = option_choice("symbolizer", choices, argument, &choice);

	if (!err)
		*(enum symbolizer_choice *)field = (enum symbolizer_choice)choice;
	return err;
}
