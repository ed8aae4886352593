#include "cmd/command.h"
#include "cmd/serve/serve.h"
#include "cmd/ui/message.h"

int serve(const struct serve_options *options, char *const *words)
{
	(void)options;
	(void)words;
	return message_failure(
		error_hint(error_new("this prof was built without an HTTP server"),
			   "build it with libmicrohttpd (apt install libmicrohttpd-dev)"));
}
