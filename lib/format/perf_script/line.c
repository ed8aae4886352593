#include "format/perf_script/line.h"

#include "base/clock.h"

#include <string.h>

static bool perf_script_line_is_blank(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool perf_script_line_is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

struct bytes script_trimmed(struct bytes text)
{
	while (text.at < text.end && perf_script_line_is_blank(*text.at))
		text.at++;
	while (text.at < text.end && perf_script_line_is_blank(text.end[-1]))
		text.end--;
	return text;
}

static void perf_script_line_skip_blanks(struct bytes *text)
{
	while (text->at < text->end && perf_script_line_is_blank(*text->at))
		text->at++;
}

/* Takes the next word, which is empty at the end. */
static struct bytes perf_script_line_take_word(struct bytes *text)
{
	struct bytes word;

	perf_script_line_skip_blanks(text);
	word = (struct bytes){.at = text->at, .end = text->at};
	while (word.end < text->end && !perf_script_line_is_blank(*word.end))
		word.end++;
	text->at = word.end;
	return word;
}

/* Takes the decimal number at the start of the text. */
static bool perf_script_line_take_number(struct bytes *text, uint64_t *ret)
{
	const unsigned char *start = text->at;
	uint64_t value = 0;

	while (text->at < text->end && perf_script_line_is_digit(*text->at))
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text->at++ - '0', &value))
			return false;
	*ret = value;
	return text->at > start;
}

static bool perf_script_line_take(struct bytes *text, char c)
{
	if (text->at == text->end || *text->at != (unsigned char)c)
		return false;
	text->at++;
	return true;
}

/* perf prints -1 for an unknown id. */
static bool take_id(struct bytes *text, pid_t *ret)
{
	bool is_negative = perf_script_line_take(text, '-');
	uint64_t id;

	if (!perf_script_line_take_number(text, &id) || id > INT32_MAX)
		return false;
	*ret = is_negative ? -1 : (pid_t)id;
	return true;
}

/* Parses "24636/25607" or "25607". */
static bool parse_ids(struct bytes word, struct script_head *head)
{
	head->pid = -1;
	if (!take_id(&word, &head->tid))
		return false;
	if (perf_script_line_take(&word, '/')) {
		head->pid = head->tid;
		if (!take_id(&word, &head->tid))
			return false;
	}
	return !bytes_left(&word);
}

/* Parses "[003]". */
static bool parse_cpu(struct bytes word, struct script_head *head)
{
	uint64_t cpu;

	if (!perf_script_line_take(&word, '[') || !perf_script_line_take_number(&word, &cpu) ||
	    cpu > UINT32_MAX || !perf_script_line_take(&word, ']'))
		return false;
	head->cpu = (uint32_t)cpu;
	return !bytes_left(&word);
}

/* Parses "94564.109216:", or a time with nanoseconds. */
static bool parse_time(struct bytes word, struct script_head *head)
{
	uint64_t seconds, fraction, unit = NS_PER_SECOND;
	const unsigned char *point;

	if (!perf_script_line_take_number(&word, &seconds) || !perf_script_line_take(&word, '.'))
		return false;
	point = word.at;
	if (!perf_script_line_take_number(&word, &fraction))
		return false;
	for (const unsigned char *at = point; at < word.at && unit; at++)
		unit /= 10;
	if (!unit || !perf_script_line_take(&word, ':') || bytes_left(&word) ||
	    __builtin_mul_overflow(seconds, (uint64_t)NS_PER_SECOND, &seconds))
		return false;
	return !__builtin_add_overflow(seconds, fraction * unit, &head->time_ns);
}

/*
 * Returns whether the word is what -F misc prints between the CPU and the time:
 * "U", "KH", "PIFsS".
 */
static bool is_misc(struct bytes word)
{
	enum { LETTERS_MAX = 8 };

	for (const unsigned char *at = word.at; at < word.end; at++)
		if (!((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z'))
			return false;
	return bytes_left(&word) && bytes_left(&word) <= LETTERS_MAX;
}

/* Takes the CPU and the time, if they are present. */
static void take_cpu_and_time(struct bytes *text, struct script_head *head)
{
	struct bytes at = *text, word = perf_script_line_take_word(&at);

	head->has_cpu = parse_cpu(word, head);
	if (head->has_cpu) {
		*text = at;
		word = perf_script_line_take_word(&at);
	}
	if (is_misc(word))
		word = perf_script_line_take_word(&at);
	/* prof prints this if it does not know the time. */
	if (bytes_are(word, ":"))
		*text = at;
	head->has_time = parse_time(word, head);
	if (head->has_time)
		*text = at;
}

static bool parse_event(struct bytes word, struct script_head *head)
{
	struct script_head other;

	if (bytes_left(&word) < 2 || word.end[-1] != ':' || parse_time(word, &other))
		return false;
	word.end--;
	head->event = word;
	return true;
}

/* Takes "10000 cycles:u:", if it is present. */
static void perf_script_line_take_event(struct bytes *text, struct script_head *head)
{
	struct bytes at = *text, word = perf_script_line_take_word(&at), number = word;
	uint64_t period;

	if (perf_script_line_take_number(&number, &period) && !bytes_left(&number)) {
		struct bytes after = at;
		struct bytes event = perf_script_line_take_word(&after);

		if (!parse_event(event, head) && bytes_left(&event))
			return;
		head->has_period = true;
		head->period = period;
		*text = after;
		return;
	}
	if (parse_event(word, head))
		*text = at;
}

/* Parses the text after the ids. */
static bool perf_script_line_parse_rest(struct bytes text, struct script_head *head)
{
	static const char record[] = "PERF_RECORD_";
	struct script_frame frame;

	take_cpu_and_time(&text, head);
	head->is_record = bytes_begin(script_trimmed(text), record);
	perf_script_line_take_event(&text, head);
	head->rest = script_trimmed(text);
	if (bytes_left(&head->event))
		return true;
	if (!head->has_cpu && !head->has_time)
		return false;
	return head->is_record || !bytes_left(&head->rest) ||
	       script_frame_parse(head->rest, &frame);
}

/*
 * Finds the first word that is an id and is followed by text that `accept`
 * accepts. A comm of the kernel has 15 letters; those of its own threads have
 * up to 63.
 */
static bool find_ids(struct bytes line, struct script_head *ret,
		     bool (*accept)(struct bytes rest, struct script_head *head))
{
	enum { IDS_OFFSET_MAX = 256 };
	struct bytes text = line;

	while (bytes_left(&text) && text.at - line.at < IDS_OFFSET_MAX) {
		struct bytes word = perf_script_line_take_word(&text);
		struct script_head head = {
			.comm = script_trimmed((struct bytes){.at = line.at, .end = word.at})};

		if (parse_ids(word, &head) && accept(text, &head)) {
			*ret = head;
			return true;
		}
	}
	return false;
}

static bool has_cpu_or_time(struct bytes text, struct script_head *head)
{
	take_cpu_and_time(&text, head);
	return head->has_cpu || head->has_time;
}

static bool parse_timed_rest(struct bytes text, struct script_head *head)
{
	return perf_script_line_parse_rest(text, head) && (head->has_cpu || head->has_time);
}

/*
 * A comm may contain numbers. A number before a CPU or a time is more likely an
 * id.
 */
bool script_head_parse(struct bytes line, struct script_head *ret)
{
	return find_ids(line, ret, parse_timed_rest) ||
	       find_ids(line, ret, perf_script_line_parse_rest);
}

bool script_head_begins(struct bytes line)
{
	struct script_head head;

	return find_ids(line, &head, has_cpu_or_time);
}

static bool perf_script_line_parse_hex(struct bytes word, uint64_t *ret)
{
	enum { HEX_DIGITS_MAX = 16 };
	uint64_t value = 0;

	if (bytes_begin(word, "0x"))
		word.at += 2;
	if (!bytes_left(&word) || bytes_left(&word) > HEX_DIGITS_MAX)
		return false;
	for (; word.at < word.end; word.at++) {
		unsigned char c = *word.at | 0x20;

		if (!perf_script_line_is_digit(*word.at) && (c < 'a' || c > 'f'))
			return false;
		value = value << 4 |
			(perf_script_line_is_digit(*word.at) ? *word.at - '0' : c - 'a' + 10);
	}
	*ret = value;
	return true;
}

/* Removes "+0x1a" at the end of a name, or of a module (-F dsoff). */
static struct bytes without_offset(struct bytes name)
{
	const unsigned char *at = name.end;

	while (at > name.at && (perf_script_line_is_digit(at[-1]) ||
				((at[-1] | 0x20) >= 'a' && (at[-1] | 0x20) <= 'f')))
		at--;
	if (at - name.at >= 3 && !memcmp(at - 3, "+0x", 3))
		name.end = at - 3;
	return name;
}

/*
 * Returns the " (" before the module in parentheses at the end of the text: the
 * one that matches the last ")", else the last one. Returns NULL if there is
 * none.
 */
static const unsigned char *find_module(struct bytes text)
{
	const unsigned char *last = NULL;
	uint64_t depth = 0;

	if (!bytes_left(&text) || text.end[-1] != ')')
		return NULL;
	for (const unsigned char *at = text.end; at-- > text.at;) {
		bool begins = *at == '(' && (at == text.at || perf_script_line_is_blank(at[-1]));

		depth += *at == ')';
		if (*at == '(' && depth)
			depth--;
		if (begins && !depth)
			return at;
		if (begins && !last)
			last = at;
	}
	return last;
}

static void parse_name(struct bytes text, struct script_frame *frame)
{
	const unsigned char *module = find_module(text);

	if (module) {
		frame->module =
			without_offset((struct bytes){.at = module + 1, .end = text.end - 1});
		text.end = module;
	}
	frame->name = without_offset(script_trimmed(text));
}

/* Without a module, only an indented line is a frame. */
bool script_frame_parse(struct bytes line, struct script_frame *ret)
{
	bool is_indented = bytes_left(&line) && perf_script_line_is_blank(*line.at);
	struct bytes text = script_trimmed(line);

	*ret = (struct script_frame){0};
	if (!perf_script_line_parse_hex(perf_script_line_take_word(&text), &ret->pc))
		return false;
	parse_name(script_trimmed(text), ret);
	return is_indented || bytes_left(&ret->module);
}

bool script_frame_find(struct bytes rest, struct script_frame *ret)
{
	enum { DIGITS_MIN = 6 };
	struct bytes text = rest, before;
	bool is_found = false;
	uint64_t pc;

	if (!find_module(rest))
		return false;
	if (script_frame_parse(rest, ret))
		return true;
	while (bytes_left(&text)) {
		struct bytes word = perf_script_line_take_word(&text);

		if (bytes_left(&word) < DIGITS_MIN || !perf_script_line_parse_hex(word, &pc))
			continue;
		before = (struct bytes){.at = word.at, .end = rest.end};
		is_found = true;
	}
	return is_found && script_frame_parse(before, ret);
}

bool script_source_parse(struct bytes text, struct bytes *file, uint32_t *line)
{
	const unsigned char *digits;
	struct bytes number;
	uint64_t value = 0;

	if (bytes_left(&text) < 3 || memcmp(text.at, "  ", 2) != 0)
		return false;
	text = script_trimmed(text);
	*file = (struct bytes){0};
	*line = 0;
	if (bytes_left(&text) && text.end[-1] == ']')
		return memchr(text.at, '[', bytes_left(&text)) != NULL;
	for (digits = text.end; digits > text.at && perf_script_line_is_digit(digits[-1]);)
		digits--;
	number = (struct bytes){.at = digits, .end = text.end};
	if (digits == text.at || digits[-1] != ':' ||
	    !perf_script_line_take_number(&number, &value) || value > INT32_MAX)
		return false;
	*file = (struct bytes){.at = text.at, .end = digits - 1};
	*line = (uint32_t)value;
	return true;
}

bool script_is_branches(struct bytes line)
{
	struct bytes word = perf_script_line_take_word(&line);

	return bytes_hold(word, "/P/") || bytes_hold(word, "/M/") || bytes_hold(word, "/-/");
}
