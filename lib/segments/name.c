#include "segments/name.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "format/format.h"

#include <string.h>
#include <time.h>

static bool has_directive(const char *template, char letter)
{
	for (const char *at = template; (at = strchr(at, '%')) && at[1]; at += 2)
		if (at[1] == letter)
			return true;
	return false;
}

/*
 * Returns the length without the longest matching extension of a known format.
 */
static size_t stem_len(const char *template)
{
	size_t len = strlen(template), longest = 0;

	for (const struct format *const *format = formats; *format; format++)
		for (const char *const *extension = (*format)->extensions; *extension;
		     extension++) {
			size_t extension_len = strlen(*extension);

			if (extension_len > longest && extension_len <= len &&
			    !strcmp(template + len - extension_len, *extension))
				longest = extension_len;
		}
	return len - longest;
}

static void segments_name_put_time(FILE *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_SECOND);
	char text[32];
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local);
	fprintf(out, "%s%02u", text, (unsigned)(unix_ns % NS_PER_SECOND / (10 * NS_PER_MS)));
}

/* Adds "%t" to a template without "%t" and "%n". */
static char *complete_template(const char *template)
{
	size_t stem = stem_len(template);

	if (has_directive(template, 't') || has_directive(template, 'n'))
		return xstrdup(template);
	return xasprintf("%.*s.%%t%s", (int)stem, template, template + stem);
}

char *segment_template(const char *template, uint64_t unix_ns)
{
	CLEANUP(free_ptr) char *whole = complete_template(template);
	char *name = NULL;
	size_t len;
	FILE *out = open_memstream(&name, &len);

	for (const char *at = whole; *at; at++) {
		if (text_begins(at, "%t")) {
			segments_name_put_time(out, unix_ns);
			at++;
			continue;
		}
		fputc(*at, out);
		if (at[0] == '%' && at[1])
			fputc(*++at, out);
	}
	fclose(out);
	return name;
}

#define NAME_FORMAT "%Y%m%dT%H%M%SZ.pb.gz"

void segment_name(uint64_t unix_ns, char ret[SEGMENT_NAME_BYTES])
{
	time_t seconds = (time_t)(unix_ns / NS_PER_SECOND);
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(ret, SEGMENT_NAME_BYTES, NAME_FORMAT, &utc);
}

bool segment_name_time(const char *name, uint64_t *ret_unix_ns)
{
	struct tm utc = {0};
	const char *end = strptime(name, NAME_FORMAT, &utc);
	char again[SEGMENT_NAME_BYTES];
	time_t seconds;

	if (!end || *end)
		return false;
	seconds = timegm(&utc);
	if (seconds < 0)
		return false;
	*ret_unix_ns = (uint64_t)seconds * NS_PER_SECOND;
	/* strptime(3) also accepts fewer digits. */
	segment_name(*ret_unix_ns, again);
	return !strcmp(name, again);
}

char *segment_prefix(const char *template)
{
	CLEANUP(free_ptr) char *whole = complete_template(template);
	const char *name = basename(whole);
	uint64_t unix_ns;

	if (segment_name_time(basename(template), &unix_ns))
		return xstrdup("");
	return xstrndup(name, strcspn(name, "%"));
}
