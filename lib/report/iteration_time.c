#include "report/iteration_time.h"

#include "base/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Accepts only numbers that are not negative. */
static bool iteration_time_read_number(const struct json_value *object, const char *name,
				       double *ret)
{
	struct json_value value;
	char digits[64];
	size_t len;

	if (!json_find(object, name, &value) || json_kind(&value) != JSON_NUMBER)
		return false;
	len = (size_t)(value.end - value.at);
	if (len >= sizeof(digits))
		return false;
	memcpy(digits, value.at, len);
	digits[len] = '\0';
	*ret = strtod(digits, NULL);
	return isfinite(*ret) && *ret >= 0;
}

/* The member is null if criterion has not estimated it. */
static bool read_estimate(const struct json_value *root, const char *name,
			  struct iteration_time *ret)
{
	struct json_value estimate;
	double point, error;

	if (!json_find(root, name, &estimate) ||
	    !iteration_time_read_number(&estimate, "point_estimate", &point) ||
	    !iteration_time_read_number(&estimate, "standard_error", &error) || !(point > 0))
		return false;
	*ret = (struct iteration_time){point, error / point};
	return isfinite(ret->error);
}

bool iteration_time_read(const char *text, size_t len, struct iteration_time *ret)
{
	struct json_value root;

	return json_parse(text, len, &root) &&
	       (read_estimate(&root, "slope", ret) || read_estimate(&root, "mean", ret));
}
