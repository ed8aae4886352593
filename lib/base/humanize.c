#include "base/humanize.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct humanized humanize_count(uint64_t count)
{
	struct humanized ret;
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = ret.text;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return ret;
}

struct humanized humanize_share(uint64_t part, uint64_t whole)
{
	struct humanized ret;

	snprintf(ret.text, sizeof(ret.text), "%.1f %%",
		 whole ? 100 * (double)part / (double)whole : 0.0);
	return ret;
}

struct humanized humanize_bytes(uint64_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	double value = (double)bytes;
	struct humanized ret;
	unsigned unit = 0;

	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	snprintf(ret.text, sizeof(ret.text), "%.*f %s", unit && value < 9.95 ? 1 : 0, value,
		 units[unit]);
	return ret;
}

struct humanized humanize_time(uint64_t ns)
{
	struct humanized ret;

	if (ns < 999500)
		snprintf(ret.text, sizeof(ret.text), "%.1f us", (double)ns / 1e3);
	else if (ns < 999500000)
		snprintf(ret.text, sizeof(ret.text), "%.0f ms", (double)ns / 1e6);
	else
		snprintf(ret.text, sizeof(ret.text), "%.2f s", (double)ns / 1e9);
	return ret;
}
