/* The data of an HTML report before gzip and base64. */
#ifndef PROF_TESTS_PAGE_DATA_H
#define PROF_TESTS_PAGE_DATA_H

#include "base/gzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned sextet_of(char digit)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, digit);

	return at ? (unsigned)(at - digits) : 0;
}

/* The caller frees the result. */
static inline char *page_data(const char *page, size_t *data_len)
{
	static const char mark[] = "id=\"data\">";
	const char *at = strstr(page, mark) + strlen(mark), *end = strchr(at, '<');
	char *packed = NULL, *data = NULL;
	size_t packed_len;
	FILE *out = open_memstream(&packed, &packed_len), *in, *gzip;
	int c;

	for (; end - at >= 4; at += 4) {
		unsigned bits = sextet_of(at[0]) << 18 | sextet_of(at[1]) << 12 |
				sextet_of(at[2]) << 6 | sextet_of(at[3]);

		fputc((int)(bits >> 16 & 255), out);
		if (at[2] != '=')
			fputc((int)(bits >> 8 & 255), out);
		if (at[3] != '=')
			fputc((int)(bits & 255), out);
	}
	fclose(out);
	in = fmemopen(packed, packed_len, "r");
	gzip = gzip_reader(in, 1 << 24);
	out = open_memstream(&data, data_len);
	while ((c = fgetc(gzip)) != EOF)
		fputc(c, out);
	fclose(gzip);
	fclose(in);
	fclose(out);
	free(packed);
	return data;
}

#endif
