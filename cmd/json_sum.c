#include "cmd/json_sum.h"

void json_put_sum(struct json *json, const char *key, struct sum sum, bool counts_samples)
{
	json_key(json, key);
	json_begin_object(json);
	if (counts_samples)
		json_put_number(json, "samples", sum.samples);
	json_put_number(json, "weight", sum.weight);
	json_end_object(json);
}
