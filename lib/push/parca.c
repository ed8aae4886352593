#include "base/base64.h"
#include "base/json.h"
#include "push/protocol.h"

static void parca_put_labels(struct json *json, const struct push_labels *labels)
{
	json_key(json, "labels");
	json_begin_object(json);
	json_key(json, "labels");
	json_begin_array(json);
	for (size_t i = 0; i < labels->count; i++) {
		json_begin_object(json);
		json_put_text(json, "name", labels->items[i].key);
		json_put_text(json, "value", labels->items[i].text);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void parca_put_sample(struct json *json, const char *base64)
{
	json_key(json, "samples");
	json_begin_array(json);
	json_begin_object(json);
	json_put_text(json, "rawProfile", base64);
	json_end_object(json);
	json_end_array(json);
}

/* "normalized" means that addresses are those of the ELF files, as they are in
 * prof's profiles. */
static void put_request(FILE *out, const struct push_labels *labels, const char *base64)
{
	struct json json = json_to(out);

	json_begin_object(&json);
	json_key(&json, "series");
	json_begin_array(&json);
	json_begin_object(&json);
	parca_put_labels(&json, labels);
	parca_put_sample(&json, base64);
	json_end_object(&json);
	json_end_array(&json);
	json_put_bool(&json, "normalized", true);
	json_end_object(&json);
}

static char *encode_base64(const char *bytes, size_t len)
{
	char *ret = NULL;
	size_t ret_len;
	FILE *text = open_memstream(&ret, &ret_len), *base64 = base64_writer(text);

	fwrite(bytes, 1, len, base64);
	fclose(base64);
	fclose(text);
	return ret;
}

static struct error *parca_encode(const struct profile *profile, const struct push_labels *labels,
				  struct wire_message *body)
{
	CLEANUP(push_labels_deinit) struct push_labels of_series = {0};
	CLEANUP(free_ptr) char *pprof = NULL, *base64 = NULL, *text = NULL;
	size_t len, text_len;
	struct error *err = push_pprof(profile, &pprof, &len);
	FILE *out;

	if (err)
		return err;
	push_labels_series(labels, profile, &of_series);
	base64 = encode_base64(pprof, len);
	out = open_memstream(&text, &text_len);
	put_request(out, &of_series, base64);
	fclose(out);
	wire_append(body, text, text_len);
	return NULL;
}

const struct push_protocol push_parca = {
	.name = "parca",
	.path = "/profiles/writeraw",
	.headers = (const char *const[]){"Content-Type: application/json", NULL},
	.encode = parca_encode,
};
