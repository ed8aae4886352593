#include "cmd/ui/options.h"

#include "base/alloc.h"
#include "base/nearest.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
	/* getopt's value of an option without a letter is this plus the entry's index. */
	LONG_ONLY = 256,
	HELP_COLUMN = 28,
	HELP_WIDTH = 92,
	ENTRIES_MAX = 128,
};

static bool is_end(const struct option_entry *entry)
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
	*name++ = (struct option){"help", no_argument, NULL, 'h'};
	for (int i = 0; !is_end(&entries[i]); i++) {
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

static const struct option_entry *entry_of(const struct option_entry *entries, int value)
{
	if (value >= LONG_ONLY)
		return &entries[value - LONG_ONLY];
	while (!is_end(entries) && entries->letter != value)
		entries++;
	return entries;
}

static struct error *unknown_option(const struct option_entry *entries, const char *word)
{
	const char *names[ENTRIES_MAX + 1];
	const char *near = NULL;
	size_t count = 0;
	struct error *err;

	for (; !is_end(entries); entries++)
		if (entries->name && entries->help)
			names[count++] = entries->name;
	names[count] = NULL;
	err = error_new("unknown option %s", word);
	if (!strncmp(word, "--", 2))
		near = nearest(word + 2, names);
	return near ? error_hint(err, "did you mean --%s?", near)
		    : error_hint(err, "--help lists the options");
}

static char *name_of(const struct option_entry *entry)
{
	return entry->name ? xasprintf("--%s", entry->name) : xasprintf("-%c", entry->letter);
}

static struct error *take(const struct option_entry *entry, void *options, const char *argument)
{
	void *field = (char *)options + entry->field;
	CLEANUP(free_ptr) char *name = name_of(entry);

	if (entry->standing == OPTION_IGNORED)
		return option_append(field, name);
	if (entry->standing == OPTION_UNSUPPORTED)
		return error_new("%s is not supported yet", name);
	return error_wrap(entry->take(field, argument), "%s", name);
}

/* The word that getopt failed at. */
static const char *failed_word(char **argv, char buffer[static 3])
{
	if (optopt > 0 && optopt < LONG_ONLY && strncmp(argv[optind - 1], "--", 2) != 0) {
		snprintf(buffer, 3, "-%c", optopt);
		return buffer;
	}
	return argv[optind - 1];
}

struct error *options_parse(const struct option_entry *entries, int argc, char **argv,
			    void *options, int *rest, bool *help)
{
	struct getopt_tables tables = {0};
	char letter[3];
	int value;

	make_tables(entries, &tables);
	*help = false;
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, tables.letters, tables.names, NULL)) != -1) {
		struct error *err;

		if (value == 'h') {
			*help = true;
			return NULL;
		}
		if (value == ':')
			return error_new("%s needs an argument", failed_word(argv, letter));
		if (value == '?')
			return unknown_option(entries, failed_word(argv, letter));
		err = take(entry_of(entries, value), options, optarg);
		if (err)
			return err;
	}
	*rest = optind;
	return NULL;
}

static void wrap_help(const char *text, int column, FILE *out)
{
	while (*text) {
		int room = HELP_WIDTH - HELP_COLUMN;
		int len = (int)strlen(text);

		if (len > room) {
			for (len = room; len > 0 && text[len] != ' '; len--)
				;
			len = len ? len : room;
		}
		fprintf(out, "%*s%.*s\n", HELP_COLUMN - column, "", len, text);
		text += len;
		text += strspn(text, " ");
		column = 0;
	}
}

static void print_entry(const struct option_entry *entry, FILE *out)
{
	char letter[5] = "    ";
	int column;

	if (entry->letter)
		snprintf(letter, sizeof(letter), "-%c%s", entry->letter, entry->name ? ", " : "");
	column = fprintf(out, "  %s%s%s%s%s", letter, entry->name ? "--" : "",
			 entry->name ? entry->name : "", entry->argument ? " " : "",
			 entry->argument ? entry->argument : "");
	if (column > HELP_COLUMN - 2) {
		fputc('\n', out);
		column = 0;
	}
	wrap_help(entry->help, column, out);
}

void options_help(const struct option_entry *entries, FILE *out)
{
	static const struct option_entry help = {
		.letter = 'h', .name = "help", .help = "list the options"};

	for (; !is_end(entries); entries++)
		if (entries->help)
			print_entry(entries, out);
	print_entry(&help, out);
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

/* Decimal digits only; strtoull would take signs and spaces. */
static bool parse_number(const char **at, uint64_t *ret)
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

	if (!parse_number(&at, &number) || *at || !number)
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
	bool is_number = parse_number(&at, &number) && number;

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

static bool parse_range(const char **at, uint64_t *first, uint64_t *last)
{
	if (!parse_number(at, first))
		return false;
	*last = *first;
	if (**at == '-') {
		++*at;
		if (!parse_number(at, last))
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

		if (!parse_range(&text, &first, &last) || (*text && *text != ','))
			return false;
		for (; first <= last; first++)
			add(to, (unsigned)first);
		if (!*text)
			return true;
	}
}
