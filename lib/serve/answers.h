/*
 * Responses in the style of net/http/pprof in Go's standard library.
 */
#ifndef PROF_SERVE_ANSWERS_H
#define PROF_SERVE_ANSWERS_H

#include "format/format.h"
#include "serve/http_server.h"

#define ANSWER_TEXT "text/plain; charset=utf-8"
#define ANSWER_HTML "text/html; charset=utf-8"

/* Responds with status 200. */
void answer_text(struct http_exchange *exchange, const char *type, const char *text, size_t len);
/*
 * Responds with one of prof's own pages: it has no script and loads nothing
 * from elsewhere.
 */
void answer_page(struct http_exchange *exchange, const char *html);
/* Responds with one line of text. header: an additional header, or NULL. */
void answer_error(struct http_exchange *exchange, unsigned status, const char *text,
		  const struct http_header *header);
/*
 * Responds with a file in a format that has a media type. Takes ownership of
 * fd; -1 means no content, for HEAD.
 */
void answer_profile(struct http_exchange *exchange, const struct format *format, int fd,
		    uint64_t bytes);

#endif
