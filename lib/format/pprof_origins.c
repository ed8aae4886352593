#include "format/pprof_origins.h"

#include "base/hash.h"
#include "format/wire.h"

enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM, LABEL_FIELDS };

/* The labels of a sample, as far as they are taken over. */
struct origin {
	string_id process, thread;
	pid_t pid, tid;
};

static string_id intern(const struct pprof_strings *strings, const char *str)
{
	return strtab_add(profile_strings(strings->profile), str);
}

void pprof_origins_init(struct pprof_origins *origins, struct pprof_strings *strings)
{
	*origins = (struct pprof_origins){
		.strings = strings,
		.comm = intern(strings, "comm"),
		.thread = intern(strings, "thread"),
		.pid = intern(strings, "pid"),
		.tid = intern(strings, "tid"),
	};
}

static pid_t process_number(uint64_t value)
{
	return value <= INT32_MAX ? (pid_t)value : -1;
}

static bool read_label(const struct pprof_origins *origins, struct bytes message,
		       struct origin *ret)
{
	uint64_t field[LABEL_FIELDS] = {0};
	string_id key;

	if (!wire_scalars(message, field, LABEL_FIELDS))
		return false;
	key = pprof_strings_get(origins->strings, field[LABEL_KEY]);
	if (key == origins->comm)
		ret->process = pprof_strings_get(origins->strings, field[LABEL_STR]);
	else if (key == origins->thread)
		ret->thread = pprof_strings_get(origins->strings, field[LABEL_STR]);
	else if (key == origins->pid)
		ret->pid = process_number(field[LABEL_NUM]);
	else if (key == origins->tid)
		ret->tid = process_number(field[LABEL_NUM]);
	return true;
}

static bool read_labels(const struct pprof_origins *origins, struct bytes labels, thread_id *ret)
{
	struct profile *profile = origins->strings->profile;
	struct origin origin = {.pid = -1, .tid = -1};
	struct wire_field field;

	while (wire_next(&labels, &field))
		if (field.number == PPROF_SAMPLE_LABEL &&
		    !read_label(origins, field.bytes, &origin))
			return false;
	*ret = profile_thread(profile, origin.pid, origin.tid,
			      profile_string(profile, origin.process),
			      profile_string(profile, origin.thread));
	return bytes_ok(&labels);
}

static bool is_equal(struct bytes a, struct bytes b)
{
	size_t len = bytes_left(&a);

	return len && len == bytes_left(&b) && !memcmp(a.at, b.at, len);
}

bool pprof_origins_find(struct pprof_origins *origins, struct bytes labels, thread_id *ret)
{
	uint32_t hash = hash_bytes(labels.at, bytes_left(&labels));
	struct pprof_origin *recent = &origins->recent[hash % PPROF_ORIGINS];

	if (!is_equal(labels, recent->labels)) {
		if (!read_labels(origins, labels, &recent->thread))
			return false;
		recent->labels = labels;
	}
	*ret = recent->thread;
	return true;
}
