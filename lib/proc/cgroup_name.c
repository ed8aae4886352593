#include "proc/cgroup_name.h"

#include <ctype.h>
#include <string.h>

enum { ID_LEN = 64, SHORT_ID_LEN = 12, LEAST_ID_LEN = 4 };

/* The content between a prefix and a suffix. */
enum cgroup_name_content { CONTENT_ID, CONTENT_NAME, CONTENT_ESCAPED };

/*
 * The forms of a part, in the order in which they are tried. `parent` must
 * equal the part before it, unless it is NULL. If `prefix` is NULL, any word
 * with a "-" may precede the CONTENT_ID.
 */
static const struct form {
	const char *parent, *prefix, *suffix;
	enum cgroup_name_content content;
} forms[] = {
	{NULL, "", "", CONTENT_ID}, /* docker/ID, kubepods/burstable/podUID/ID, ecs/TASK/ID */
	/* Docker-, libpod-, cri-containerd-, crio-, nerdctl-. */
	{NULL, NULL, ".scope", CONTENT_ID},
	{NULL, NULL, "", CONTENT_ID}, /* libpod_parent/libpod-ID */
	{NULL, "lxc.payload.", "", CONTENT_NAME},
	{"lxc.payload", "", "", CONTENT_NAME},
	{"lxc", "", "", CONTENT_NAME},
	{NULL, "machine-", ".scope", CONTENT_ESCAPED},
	{NULL, "systemd-nspawn@", ".service", CONTENT_ESCAPED},
};

static const struct unit {
	const char *suffix;
	enum cgroup_kind kind;
} cgroup_units[] = {
	{".service", CGROUP_UNIT},
	{".scope", CGROUP_UNIT},
	{".slice", CGROUP_SLICE},
};

/* A part of the path, without a terminating NUL. */
struct cgroup_name_part {
	const char *text;
	size_t len;
};

static bool cgroup_name_is_text(struct cgroup_name_part part, const char *text)
{
	return part.len == strlen(text) && !memcmp(part.text, text, part.len);
}

static bool strip_suffix(struct cgroup_name_part *part, const char *suffix)
{
	size_t len = strlen(suffix);

	if (part->len <= len || memcmp(part->text + part->len - len, suffix, len) != 0)
		return false;
	part->len -= len;
	return true;
}

static bool strip_prefix(struct cgroup_name_part *part, const char *prefix)
{
	size_t len = strlen(prefix);

	if (part->len <= len || memcmp(part->text, prefix, len) != 0)
		return false;
	part->text += len;
	part->len -= len;
	return true;
}

/* Removes a word such as "cri-containerd-" before the id. */
static bool strip_word(struct cgroup_name_part *part)
{
	if (part->len <= ID_LEN + 1 || part->text[part->len - ID_LEN - 1] != '-')
		return false;
	part->text += part->len - ID_LEN;
	part->len = ID_LEN;
	return true;
}

static size_t count_hex(const char *text, size_t len)
{
	size_t count = 0;

	while (count < len && isxdigit((unsigned char)text[count]))
		count++;
	return count;
}

static int cgroup_name_hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* systemd writes "my-app" as "my\x2dapp". */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at;) {
		if (at[0] == '\\' && at[1] == 'x' && count_hex(at + 2, strnlen(at + 2, 2)) == 2) {
			int c = cgroup_name_hex_digit(at[2]) << 4 | cgroup_name_hex_digit(at[3]);

			*to++ = (char)(c ? c : '?');
			at += 4;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

static void cgroup_name_set_text(struct cgroup_name *name, struct cgroup_name_part part)
{
	size_t len = part.len < sizeof(name->text) - 1 ? part.len : sizeof(name->text) - 1;

	memcpy(name->text, part.text, len);
	name->text[len] = '\0';
}

static bool has_form(const struct form *form, struct cgroup_name_part part,
		     struct cgroup_name_part parent, struct cgroup_name *ret)
{
	if ((form->parent && !cgroup_name_is_text(parent, form->parent)) ||
	    !strip_suffix(&part, form->suffix))
		return false;
	if (form->prefix ? !strip_prefix(&part, form->prefix) : !strip_word(&part))
		return false;
	if (form->content == CONTENT_ID &&
	    (part.len != ID_LEN || count_hex(part.text, part.len) != ID_LEN))
		return false;
	ret->kind = form->content == CONTENT_ID ? CGROUP_ID : CGROUP_CONTAINER;
	cgroup_name_set_text(ret, part);
	if (form->content == CONTENT_ESCAPED)
		unescape(ret->text);
	return true;
}

static bool is_unit(struct cgroup_name_part part, struct cgroup_name *ret)
{
	for (size_t i = 0; i < sizeof(cgroup_units) / sizeof(*cgroup_units); i++) {
		struct cgroup_name_part stem = part;

		if (!strip_suffix(&stem, cgroup_units[i].suffix))
			continue;
		ret->kind = cgroup_units[i].kind;
		cgroup_name_set_text(ret, part);
		return true;
	}
	return false;
}

static bool names_something(struct cgroup_name_part part, struct cgroup_name_part parent,
			    struct cgroup_name *ret)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (has_form(&forms[i], part, parent, ret))
			return true;
	return is_unit(part, ret);
}

/* Returns the part that ends before `end`. */
static struct cgroup_name_part part_before(const char *path, size_t end)
{
	size_t start = end;

	while (start && path[start - 1] != '/')
		start--;
	return (struct cgroup_name_part){path + start, end - start};
}

bool cgroup_name_next(const char *path, size_t *at, struct cgroup_name *ret)
{
	while (path[*at]) {
		size_t start = *at + strspn(path + *at, "/");
		struct cgroup_name_part part = {path + start, strcspn(path + start, "/")};
		struct cgroup_name_part parent = part_before(path, *at);

		*at = start + part.len;
		if (!names_something(part, parent, ret))
			continue;
		ret->end = *at;
		return true;
	}
	return false;
}

bool cgroup_name_of(const char *path, struct cgroup_name *ret)
{
	struct cgroup_name name;
	enum cgroup_kind least = CGROUP_UNIT;
	bool is_found = false;
	size_t at = 0;

	while (cgroup_name_next(path, &at, &name)) {
		if (name.kind < least)
			continue;
		if (name.kind >= CGROUP_CONTAINER)
			least = CGROUP_CONTAINER;
		*ret = name;
		is_found = true;
	}
	if (is_found && ret->kind == CGROUP_ID)
		ret->text[SHORT_ID_LEN] = '\0';
	return is_found;
}

bool cgroup_name_is(const struct cgroup_name *name, const char *wanted)
{
	size_t len = strlen(wanted);

	if (name->kind != CGROUP_ID)
		return !strcmp(name->text, wanted);
	return len >= LEAST_ID_LEN && !strncasecmp(name->text, wanted, len);
}
