/* Base64 encoding. Source: RFC 4648, 4. */
#ifndef PROF_BASE_BASE64_H
#define PROF_BASE_BASE64_H

#include <stdio.h>

/*
 * A stream that writes its bytes to out as base64, without line ends. fclose() finishes it and
 * leaves out open; it fails if a write failed. out must outlive it. NULL (errno) only if out of
 * memory.
 */
FILE *base64_writer(FILE *out);

#endif
