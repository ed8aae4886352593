#include "serve/answers.h"

#include "base/alloc.h"

#include <string.h>

void answer_text(struct http_exchange *exchange, const char *type, const char *text, size_t len)
{
	http_exchange_answer(exchange, &(struct http_answer){
					       .status = 200,
					       .type = type,
					       .fd = -1,
					       .text = text,
					       .text_len = len,
				       });
}

void answer_page(struct http_exchange *exchange, const char *html)
{
	const struct http_header policy = {
		"Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
		"form-action 'none'; frame-ancestors 'none'"};

	http_exchange_answer(exchange, &(struct http_answer){
					       .status = 200,
					       .type = ANSWER_HTML,
					       .headers = &policy,
					       .header_count = 1,
					       .fd = -1,
					       .text = html,
					       .text_len = strlen(html),
				       });
}

void answer_error(struct http_exchange *exchange, unsigned status, const char *text,
		  const struct http_header *header)
{
	CLEANUP(free_ptr) char *line = xasprintf("%s\n", text);
	struct http_header headers[] = {{"X-Go-Pprof", "1"}, {NULL, NULL}};

	if (header)
		headers[1] = *header;
	http_exchange_answer(exchange, &(struct http_answer){
					       .status = status,
					       .type = ANSWER_TEXT,
					       .headers = headers,
					       .header_count = header ? 2 : 1,
					       .fd = -1,
					       .text = line,
					       .text_len = strlen(line),
				       });
}

void answer_profile(struct http_exchange *exchange, const struct format *format, int fd,
		    uint64_t bytes)
{
	CLEANUP(free_ptr)
	char *disposition = format->download
				    ? xasprintf("attachment; filename=\"%s\"", format->download)
				    : xstrdup("inline");

	http_exchange_answer(
		exchange,
		&(struct http_answer){
			.status = 200,
			.type = format->media_type,
			.headers = &(struct http_header){"Content-Disposition", disposition},
			.header_count = 1,
			.fd = fd,
			.fd_bytes = bytes,
		});
}
