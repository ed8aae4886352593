#include "cmd/ui/options.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cmd/counterparts.h"
#include "cmd/ui/wrap.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum {
	/* getopt's value of an option without a letter is this plus the entry's index. */
	LONG_ONLY = 256,
	LONG_HELP = 1, /* getopt's value of --help */
	ARGUMENT_COLUMN = 11,
	OPTIONS_HELP_COLUMN = 28,
	ENTRIES_MAX = 160,
};

static const char *const ui_options_titles[GROUP_COUNT] = {
	[GROUP_NONE] = "",
	[GROUP_TARGET] = "Target",
	[GROUP_EVENTS] = "Events",
	[GROUP_STACKS] = "Stacks",
	[GROUP_WAITING] = "Waiting",
	[GROUP_MEMORY] = "Memory",
	[GROUP_INPUT] = "Input",
	[GROUP_SELECTION] = "Selection",
	[GROUP_VIEW] = "View",
	[GROUP_STATISTICS] = "Statistics",
	[GROUP_ACCESS] = "Access",
	[GROUP_OUTPUT] = "Output",
	[GROUP_SYMBOLS] = "Symbols",
	[GROUP_CONTROL] = "Control",
	[GROUP_CONTINUOUS] = "Continuous",
	[GROUP_PUSH] = "Push",
	[GROUP_HELP] = "Help",
};

/* The options of every table. options_parse() handles them. */
static const struct option_entry ui_options_help_entries[] = {
	OPTION_ENTRY(HELP, 'h', NULL, NULL, "print the common options and examples", NULL, 0),
	OPTION_ENTRY(HELP, 0, "help", "[GROUP]", "print all options, or those of a group", NULL, 0),
	{0},
};

bool option_is_end(const struct option_entry *entry)
{
	return !entry->letter && !entry->name;
}

/* getopt's has_arg, which is also the number of colons after the letter. */
static int argument_of(const struct option_entry *entry)
{
	if (!entry->argument)
		return no_argument;
	return entry->argument[0] == '[' ? optional_argument : required_argument;
}

struct getopt_tables {
	char letters[3 * ENTRIES_MAX + 4];
	struct option names[ENTRIES_MAX + 2];
};

static void make_tables(const struct option_entry *entries, struct getopt_tables *tables)
{
	char *letter = tables->letters;
	struct option *name = tables->names;

	/* "+": stop at the first word that is not an option; ":": report a missing argument as
	 * such. */
	*letter++ = '+';
	*letter++ = ':';
	*letter++ = 'h';
	*name++ = (struct option){"help", optional_argument, NULL, LONG_HELP};
	for (int i = 0; !option_is_end(&entries[i]); i++) {
		const struct option_entry *entry = &entries[i];

		assert(i < ENTRIES_MAX);

		if (entry->letter) {
			*letter++ = entry->letter;
			for (int colons = argument_of(entry); colons; colons--)
				*letter++ = ':';
		}
		if (entry->name)
			*name++ = (struct option){entry->name, argument_of(entry), NULL,
						  entry->letter ? entry->letter : LONG_ONLY + i};
	}
}

static const struct option_entry *ui_options_entry_of(const struct option_entry *entries, int value)
{
	if (value >= LONG_ONLY)
		return &entries[value - LONG_ONLY];
	while (!option_is_end(entries) && entries->letter != value)
		entries++;
	return entries;
}

static struct error *unknown_option(const struct option_entry *entries, const char *word)
{
	const char *names[ENTRIES_MAX + 1];
	const char *counterpart = counterpart_of_option(entries, word);
	const char *near = NULL;
	size_t count = 0;
	struct error *err;

	for (; !option_is_end(entries); entries++)
		if (entries->name && entries->help)
			names[count++] = entries->name;
	names[count] = NULL;
	err = error_new("unknown option %s", word);
	if (counterpart)
		return error_hint(err, "%s", counterpart);
	if (text_begins(word, "--"))
		near = nearest(word + 2, names);
	return near ? error_hint(err, "did you mean --%s?", near)
		    : error_hint(err, "--help lists the options");
}

static char *ui_options_name_of(const struct option_entry *entry)
{
	return entry->name ? xasprintf("--%s", entry->name) : xasprintf("-%c", entry->letter);
}

static struct error *ui_options_take(const struct option_entry *entry, void *options,
				     const char *argument)
{
	void *field = (char *)options + entry->field;
	CLEANUP(free_ptr) char *name = ui_options_name_of(entry);

	if (entry->standing == OPTION_IGNORED)
		return option_append(field, name);
	if (entry->standing == OPTION_UNSUPPORTED)
		return error_new("%s is not supported yet", name);
	return error_wrap(entry->take(field, argument), "%s", name);
}

/* Returns the word that getopt failed at. */
static const char *failed_word(char **argv, char buffer[static 3])
{
	if (optopt > 0 && optopt < LONG_ONLY && !text_begins(argv[optind - 1], "--")) {
		snprintf(buffer, 3, "-%c", optopt);
		return buffer;
	}
	return argv[optind - 1];
}

/* Returns the entries of a group: those of --help are not in a table. */
static const struct option_entry *ui_options_of_group(const struct option_entry *entries,
						      enum option_group group)
{
	return group == GROUP_HELP ? ui_options_help_entries : entries;
}

static bool ui_options_has_group(const struct option_entry *entries, enum option_group group)
{
	for (entries = ui_options_of_group(entries, group); !option_is_end(entries); entries++)
		if (entries->group == group)
			return true;
	return false;
}

char *options_group_names(const struct option_entry *entries)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (enum option_group group = GROUP_TARGET; group < GROUP_HELP; group++) {
		const char *title = ui_options_titles[group];

		if (ui_options_has_group(entries, group))
			fprintf(out, "%s%c%s", ftell(out) ? ", " : "", tolower(*title), title + 1);
	}
	fclose(out);
	return text;
}

static struct error *ui_options_take_group(const struct option_entry *entries, const char *word,
					   enum option_group *ret)
{
	CLEANUP(free_ptr) char *names = options_group_names(entries);

	for (enum option_group group = GROUP_TARGET; group < GROUP_COUNT; group++) {
		if (strcasecmp(word, ui_options_titles[group]) != 0 ||
		    !ui_options_has_group(entries, group))
			continue;
		*ret = group;
		return NULL;
	}
	return error_hint(error_new("unknown group of options \"%s\"", word), "the groups are %s",
			  names);
}

/* Handles --help, which may have its group as the next word. */
static struct error *ui_options_take_help(const struct option_entry *entries, const char *next,
					  enum option_group *help)
{
	const char *word = optarg ? optarg : next && *next != '-' ? next : NULL;

	*help = GROUP_ALL;
	return word ? ui_options_take_group(entries, word, help) : NULL;
}

struct error *options_parse(const struct option_entry *entries, int argc, char **argv,
			    void *options, int *rest, enum option_group *help)
{
	struct getopt_tables tables = {0};
	char letter[3];
	int value;

	make_tables(entries, &tables);
	*help = GROUP_NONE;
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, tables.letters, tables.names, NULL)) != -1) {
		struct error *err;

		if (value == 'h') {
			*help = GROUP_COMMON;
			return NULL;
		}
		if (value == LONG_HELP)
			return ui_options_take_help(entries, optind < argc ? argv[optind] : NULL,
						    help);
		if (value == ':')
			return error_new("%s needs an argument", failed_word(argv, letter));
		if (value == '?')
			return unknown_option(entries, failed_word(argv, letter));
		err = ui_options_take(ui_options_entry_of(entries, value), options, optarg);
		if (err)
			return err;
	}
	*rest = optind;
	return NULL;
}

/* Prints an argument and returns the column after it. One that is too long for a line is broken
 * between its choices. */
static int ui_options_print_argument(const char *argument, int column, FILE *out)
{
	int len = (int)strlen(argument), room = WRAP_WIDTH - column;

	if (len <= room)
		return column + fprintf(out, "%s", argument);
	while (room > 0 && argument[room - 1] != '|')
		room--;
	fprintf(out, "%.*s\n%*s", room, argument, ARGUMENT_COLUMN, "");
	return ARGUMENT_COLUMN + fprintf(out, "%s", argument + room);
}

/* Prints "-e, --event NAME" or "--off-cpu[=MIN]", and returns the column after it. */
static int ui_options_print_spelling(const struct option_entry *entry, FILE *out)
{
	const char *argument = entry->argument ? entry->argument : "";
	/* The word after --help may be a group; other options take a word or the part after "=". */
	bool is_joined = *argument == '[' && entry->name && entry->group != GROUP_HELP;
	int column = entry->letter ? fprintf(out, "  -%c%s", entry->letter, entry->name ? ", " : "")
				   : fprintf(out, "      ");

	if (entry->name)
		column += fprintf(out, "--%s", entry->name);
	if (*argument)
		column += fprintf(out, "%s", is_joined ? "[=" : " ");
	return ui_options_print_argument(argument + is_joined, column, out);
}

static void ui_options_print(const struct option_entry *entry, const char *help, FILE *out)
{
	int column = ui_options_print_spelling(entry, out);

	if (column > OPTIONS_HELP_COLUMN - 2) {
		fputc('\n', out);
		column = 0;
	}
	wrap_text(help, column, OPTIONS_HELP_COLUMN, out);
}

static bool ui_options_is_same(const struct option_entry *a, const struct option_entry *b)
{
	return a->name && b->name ? !strcmp(a->name, b->name)
				  : a->name == b->name && a->letter == b->letter;
}

/* Returns true if a table (NULL: none) lists an option of this name. */
static bool ui_options_lists(const struct option_entry *entries, const struct option_entry *wanted)
{
	for (; entries && !option_is_end(entries); entries++)
		if (entries->group && ui_options_is_same(entries, wanted))
			return true;
	return false;
}

void options_help(const struct option_entry *entries, enum option_group group,
		  const struct option_entry *others, FILE *out)
{
	enum option_group last = GROUP_NONE;

	for (enum option_group each = GROUP_TARGET; each < GROUP_COUNT; each++) {
		const struct option_entry *entry = ui_options_of_group(entries, each);

		for (; !option_is_end(entry); entry++) {
			if (entry->group != each || (group != GROUP_ALL && group != each) ||
			    ui_options_lists(others, entry))
				continue;
			if (each != last)
				fprintf(out, "%s%s:\n", last ? "\n" : "", ui_options_titles[each]);
			last = each;
			ui_options_print(entry, entry->help, out);
		}
	}
}

static void ui_options_print_summary(const struct option_entry *entry, FILE *out)
{
	const char *end = strstr(entry->help, "; ");
	CLEANUP(free_ptr)
	char *summary = xstrndup(entry->help,
				 end ? (size_t)(end - entry->help) : strlen(entry->help));

	ui_options_print(entry, summary, out);
}

void options_summarize(const struct option_entry *entries, bool all, FILE *out)
{
	for (enum option_group group = GROUP_TARGET; group < GROUP_COUNT; group++)
		for (const struct option_entry *entry = ui_options_of_group(entries, group);
		     !option_is_end(entry); entry++)
			if (entry->group == group && (all || entry->is_common))
				ui_options_print_summary(entry, out);
}

void option_list_deinit(struct option_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

struct error *option_true(void *field, const char *argument)
{
	(void)argument;
	*(bool *)field = true;
	return NULL;
}

struct error *option_string(void *field, const char *argument)
{
	*(const char **)field = argument;
	return NULL;
}

struct error *option_append(void *field, const char *argument)
{
	struct option_list *list = field;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = xstrdup(argument);
	return NULL;
}

/* Accepts decimal digits only; strtoull would accept signs and spaces. */
static bool ui_options_parse_number(const char **at, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

struct error *option_count(void *field, const char *argument)
{
	const char *at = argument;
	uint64_t number;

	if (!ui_options_parse_number(&at, &number) || *at || !number)
		return error_new("\"%s\" is not a number above 0", argument);
	*(uint64_t *)field = number;
	return NULL;
}

struct error *option_size(void *field, const char *argument)
{
	static const char suffixes[] = "kmg";
	const char *at = argument, *suffix;
	uint64_t number = 0;
	unsigned shift = 0;
	bool is_number = ui_options_parse_number(&at, &number) && number;

	suffix = *at ? strchr(suffixes, *at | 0x20) : NULL;
	if (suffix) {
		shift = 10 * (unsigned)(suffix - suffixes + 1);
		at++;
	}
	if (!is_number || *at || number > UINT64_MAX >> shift)
		return error_hint(error_new("\"%s\" is not a size", argument),
				  "a number of bytes, or one with k, M or G");
	*(uint64_t *)field = number << shift;
	return NULL;
}

struct error *option_time(void *field, const char *argument)
{
	char *end;
	double seconds;

	errno = 0;
	seconds = strtod(argument, &end);
	if (errno || end == argument || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return error_new("\"%s\" is not a number of seconds", argument);
	if (seconds < 1e-9)
		return error_new("%s s is less than a nanosecond", argument);
	*(uint64_t *)field = (uint64_t)(seconds * 1e9);
	return NULL;
}

struct error *option_short_time(void *field, const char *argument)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(argument, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double ns = number * units[i].ns;

		if (end == argument || strcmp(end, units[i].name) != 0 || !(ns >= 1 && ns <= 1e18))
			continue;
		*(uint64_t *)field = (uint64_t)(ns + 0.5);
		return NULL;
	}
	return error_hint(error_new("\"%s\" is not a time", argument),
			  "a number with ns, us, ms or s: 10us");
}

struct error *option_percent(void *field, const char *argument)
{
	char *end;
	double percent = strtod(argument, &end);

	if (end != argument && *end == '%')
		end++;
	if (end == argument || *end || !(percent >= 0 && percent <= 100))
		return error_new("\"%s\" is not a number from 0 to 100", argument);
	*(double *)field = percent;
	return NULL;
}

static bool ui_options_parse_range(const char **at, uint64_t *first, uint64_t *last)
{
	if (!ui_options_parse_number(at, first))
		return false;
	*last = *first;
	if (**at == '-') {
		++*at;
		if (!ui_options_parse_number(at, last))
			return false;
	}
	return *first <= *last && *last <= INT_MAX && *last - *first < 65536;
}

const struct option_choice *option_choice_find(const struct option_choice *choices,
					       const char *word)
{
	for (; choices->word; choices++)
		if (!strcmp(choices->word, word))
			return choices;
	return NULL;
}

static struct error *unknown_choice(const char *what, const struct option_choice *choices,
				    const char *argument)
{
	CLEANUP(free_ptr) char *words = xstrdup(choices->word);

	for (const struct option_choice *choice = choices + 1; choice->word; choice++) {
		char *longer;

		if (choice->value == choice[-1].value)
			continue;
		longer = xasprintf("%s, %s", words, choice->word);
		free(words);
		words = longer;
	}
	return error_new("unknown %s \"%s\" (%s)", what, argument, words);
}

struct error *option_choice(const char *what, const struct option_choice *choices,
			    const char *argument, int *ret)
{
	const struct option_choice *choice = option_choice_find(choices, argument);

	if (!choice)
		return unknown_choice(what, choices, argument);
	*ret = choice->value;
	return NULL;
}

bool option_ranges(const char *text, void (*add)(void *to, unsigned number), void *to)
{
	for (;; text++) {
		uint64_t first, last;

		if (!ui_options_parse_range(&text, &first, &last) || (*text && *text != ','))
			return false;
		for (; first <= last; first++)
			add(to, (unsigned)first);
		if (!*text)
			return true;
	}
}
