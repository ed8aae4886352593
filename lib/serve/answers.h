/* Answers to requests as net/http/pprof of Go's standard library gives them. */
#ifndef PROF_SERVE_ANSWERS_H
#define PROF_SERVE_ANSWERS_H

#include "serve/http_server.h"

#define ANSWER_TEXT "text/plain; charset=utf-8"
#define ANSWER_HTML "text/html; charset=utf-8"

/* Answers with status 200. */
void answer_text(struct http_exchange *exchange, const char *type, const char *text, size_t len);
/* A page of ours: no script, nothing from elsewhere. */
void answer_page(struct http_exchange *exchange, const char *html);
/* One line of text. header: one more, or NULL. */
void answer_error(struct http_exchange *exchange, unsigned status, const char *text,
		  const struct http_header *header);
/* A file in the format that `format`, as in struct serve_wish, names. Takes fd; -1: without
 * content, for HEAD. */
void answer_profile(struct http_exchange *exchange, const char *format, int fd, uint64_t bytes);

#endif
