#include "format/otlp/otlp.h"
#include "base/alloc.h"
#include "base/gzip.h"
#include "base/utf8.h"
#include "format/otlp/fields.h"
#include "push/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static struct error *compress(const struct wire_message *request, struct wire_message *body)
{
	CLEANUP(free_ptr) char *packed = NULL;
	size_t len;
	FILE *out = open_memstream(&packed, &len);
	FILE *gzip = gzip_writer(out);
	bool is_written = gzip && fwrite(request->bytes, 1, request->len, gzip) == request->len;

	if (gzip)
		is_written &= fclose(gzip) == 0;
	is_written &= fclose(out) == 0;
	if (!is_written)
		return error_errno(errno, "compress the profile");
	wire_append(body, packed, len);
	return NULL;
}

static struct error *push_otlp_encode(const struct profile *profile,
				      const struct push_labels *labels, struct wire_message *body)
{
	CLEANUP(free_ptr)
	struct otlp_attribute *resource = xcalloc(labels->count, sizeof(*resource));
	struct wire_message request = {0};
	struct error *err;

	for (size_t i = 0; i < labels->count; i++)
		resource[i] = (struct otlp_attribute){labels->items[i].key, labels->items[i].text};
	err = otlp_encode(
		profile,
		&(struct otlp_options){.resource = resource, .resource_count = labels->count},
		&request);
	if (!err)
		err = compress(&request, body);
	free(request.bytes);
	return err;
}

static struct bytes partial_success(struct bytes reply)
{
	struct wire_field field;
	struct bytes found = {0};

	while (wire_next(&reply, &field))
		if (field.number == OTLP_RESPONSE_PARTIAL_SUCCESS && field.type == WIRE_BYTES)
			found = field.bytes;
	return found;
}

static char *complaint(struct bytes reply)
{
	struct bytes partial = partial_success(reply), words = {0};
	struct wire_field field;
	uint64_t rejected = 0;

	while (wire_next(&partial, &field)) {
		if (field.number == OTLP_PARTIAL_REJECTED && field.type == WIRE_VARINT)
			rejected = field.value;
		if (field.number == OTLP_PARTIAL_MESSAGE && field.type == WIRE_BYTES)
			words = field.bytes;
	}
	if (!rejected)
		return NULL;
	if (!utf8_is_text(words))
		words = (struct bytes){0};
	return xasprintf("%" PRIu64 " profile%s rejected%s%.*s", rejected, rejected == 1 ? "" : "s",
			 bytes_left(&words) ? ": " : "", (int)bytes_left(&words),
			 (const char *)words.at);
}

const struct push_protocol push_otlp = {
	.name = "otlp",
	.path = "/v1development/profiles",
	.headers = (const char *const[]){"Content-Type: application/x-protobuf",
					 "Content-Encoding: gzip", NULL},
	.encode = push_otlp_encode,
	.complaint = complaint,
};
