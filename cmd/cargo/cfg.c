#include "cmd/cargo/cfg.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

/* A predicate that is being read. */
struct cfg {
	const char *at, *options;
	bool is_valid;
};

static void skip_spaces(struct cfg *cfg)
{
	while (isspace((unsigned char)*cfg->at))
		cfg->at++;
}

static bool take(struct cfg *cfg, char c)
{
	skip_spaces(cfg);
	if (*cfg->at != c)
		return false;
	cfg->at++;
	return true;
}

static void expect(struct cfg *cfg, char c)
{
	cfg->is_valid &= take(cfg, c);
}

/* The caller frees it. Without a name it is empty, and the cfg invalid. */
static char *take_name(struct cfg *cfg)
{
	const char *start;

	skip_spaces(cfg);
	for (start = cfg->at; isalnum((unsigned char)*cfg->at) || *cfg->at == '_';)
		cfg->at++;
	cfg->is_valid &= cfg->at > start;
	return xstrndup(start, (size_t)(cfg->at - start));
}

/* name, or name="value". */
static bool is_set(const char *options, const char *option)
{
	size_t len = strlen(option);

	for (const char *line = options; *line;) {
		size_t line_len = strcspn(line, "\n");

		if (line_len == len && !strncmp(line, option, len))
			return true;
		line += line_len + (line[line_len] == '\n');
	}
	return false;
}

/* After the name. */
static bool take_option(struct cfg *cfg, const char *name)
{
	CLEANUP(free_ptr) char *option = NULL;
	size_t len;

	if (!take(cfg, '='))
		return !strcmp(name, "true") || is_set(cfg->options, name);
	expect(cfg, '"');
	len = strcspn(cfg->at, "\"");
	option = xasprintf("%s=\"%.*s\"", name, (int)len, cfg->at);
	cfg->at += len;
	expect(cfg, '"');
	return is_set(cfg->options, option);
}

static bool take_predicate(struct cfg *cfg, unsigned depth);

/* Within the parentheses of all, any or not: how many of the predicates hold. */
static size_t take_list(struct cfg *cfg, unsigned depth, size_t *ret_count)
{
	size_t held = 0, count = 0;

	while (cfg->is_valid && !take(cfg, ')')) {
		held += take_predicate(cfg, depth);
		count++;
		if (take(cfg, ','))
			continue;
		expect(cfg, ')');
		break;
	}
	*ret_count = count;
	return held;
}

/* Depth is bounded, so that the recursion is. */
static bool take_predicate(struct cfg *cfg, unsigned depth)
{
	CLEANUP(free_ptr) char *name = take_name(cfg);
	size_t held, count;

	if (depth == DEPTH_MAX)
		cfg->is_valid = false;
	if (!cfg->is_valid || !take(cfg, '('))
		return cfg->is_valid && take_option(cfg, name);
	held = take_list(cfg, depth + 1, &count);
	if (!strcmp(name, "all"))
		return held == count;
	if (!strcmp(name, "any"))
		return held;
	cfg->is_valid &= !strcmp(name, "not") && count == 1;
	return !held;
}

bool cargo_cfg_matches(const char *text, const char *options)
{
	struct cfg cfg = {.at = text, .options = options, .is_valid = true};
	CLEANUP(free_ptr) char *name = take_name(&cfg);
	bool holds;

	cfg.is_valid &= !strcmp(name, "cfg");
	expect(&cfg, '(');
	holds = cfg.is_valid && take_predicate(&cfg, 0);
	expect(&cfg, ')');
	skip_spaces(&cfg);
	return holds && cfg.is_valid && !*cfg.at;
}
