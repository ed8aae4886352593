/* Base64 encoding. Source: RFC 4648, 4. */
#ifndef PROF_BASE_BASE64_H
#define PROF_BASE_BASE64_H

#include <stdio.h>

/*
 * Returns a stream that writes its bytes to out as base64, without line ends.
 * fclose() finishes it, leaves out open, and fails if a write failed. out must
 * outlive the stream. Returns NULL (errno) only if out of memory.
 */
FILE *base64_writer(FILE *out);

#endif
