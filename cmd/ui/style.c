#include "cmd/ui/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RED = 1, GREEN = 2, YELLOW = 3, MAGENTA = 5, CYAN = 6 };

enum { HOT_DIVISOR = 10, WARM_DIVISOR = 50 };

struct error *colour_take_when(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"auto", COLOUR_AUTO}, {"always", COLOUR_ALWAYS}, {"never", COLOUR_NEVER}, {0}};

	return option_choice("choice", choices, argument, field);
}

/* Returns the value of a variable, or NULL if it is unset or empty. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

bool terminal_is_dumb(void)
{
	const char *terminal = environment("TERM");

	return !terminal || !strcmp(terminal, "dumb");
}

bool colour_is_used(enum colour_when when)
{
	const char *force = environment("CLICOLOR_FORCE"), *wish = environment("CLICOLOR");

	if (when != COLOUR_AUTO)
		return when == COLOUR_ALWAYS;
	if (environment("NO_COLOR"))
		return false;
	if (force && strcmp(force, "0") != 0)
		return true;
	return isatty(STDOUT_FILENO) && !terminal_is_dumb() && !(wish && !strcmp(wish, "0"));
}

static const struct {
	struct style_look look;
	const char *sequence;
} styles[STYLES] = {
	[STYLE_PLAIN] = {{.colour = COLOUR_DEFAULT}, "\033[0m"},
	[STYLE_HEADING] = {{.bold = true, .colour = COLOUR_DEFAULT}, "\033[1m"},
	[STYLE_FAINT] = {{.faint = true, .colour = COLOUR_DEFAULT}, "\033[2m"},
	[STYLE_HOT] = {{.bold = true, .colour = RED}, "\033[1;31m"},
	[STYLE_WARM] = {{.colour = YELLOW}, "\033[33m"},
	[STYLE_LESS] = {{.bold = true, .colour = GREEN}, "\033[1;32m"},
	[STYLE_KERNEL] = {{.colour = MAGENTA}, "\033[35m"},
	[STYLE_JIT] = {{.colour = GREEN}, "\033[32m"},
	[STYLE_INTERPRETED] = {{.colour = CYAN}, "\033[36m"},
	[STYLE_SELECTED] = {{.reverse = true, .colour = COLOUR_DEFAULT}, "\033[7m"},
};

struct style_look style_look(enum style style)
{
	return styles[style].look;
}

const char *style_sequence(enum style style)
{
	return styles[style].sequence;
}

enum style style_of_share(uint64_t part, uint64_t whole)
{
	if (!part || (double)part * WARM_DIVISOR < (double)whole)
		return STYLE_PLAIN;
	return (double)part * HOT_DIVISOR >= (double)whole ? STYLE_HOT : STYLE_WARM;
}
