#include "cmd/cargo/cfg.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

/* The state of the parser. */
struct cfg {
	const char *at, *options;
	bool is_valid;
};

static void cfg_skip_spaces(struct cfg *cfg)
{
	while (isspace((unsigned char)*cfg->at))
		cfg->at++;
}

static bool cfg_take(struct cfg *cfg, char c)
{
	cfg_skip_spaces(cfg);
	if (*cfg->at != c)
		return false;
	cfg->at++;
	return true;
}

static void cfg_expect(struct cfg *cfg, char c)
{
	cfg->is_valid &= cfg_take(cfg, c);
}

/* Returns a name, which the caller frees. If there is none, it is empty and the
 * cfg is invalid. */
static char *cfg_take_name(struct cfg *cfg)
{
	const char *start;

	cfg_skip_spaces(cfg);
	for (start = cfg->at; isalnum((unsigned char)*cfg->at) || *cfg->at == '_';)
		cfg->at++;
	cfg->is_valid &= cfg->at > start;
	return xstrndup(start, (size_t)(cfg->at - start));
}

/* option: name, or name="value". */
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

/* Parses the rest of an option after its name. */
static bool take_option(struct cfg *cfg, const char *name)
{
	CLEANUP(free_ptr) char *option = NULL;
	size_t len;

	if (!cfg_take(cfg, '='))
		return !strcmp(name, "true") || is_set(cfg->options, name);
	cfg_expect(cfg, '"');
	len = strcspn(cfg->at, "\"");
	option = xasprintf("%s=\"%.*s\"", name, (int)len, cfg->at);
	cfg->at += len;
	cfg_expect(cfg, '"');
	return is_set(cfg->options, option);
}

static bool take_predicate(struct cfg *cfg, unsigned depth);

/* Returns how many predicates hold within the parentheses of all, any or not. */
static size_t cfg_take_list(struct cfg *cfg, unsigned depth, size_t *ret_count)
{
	size_t held = 0, count = 0;

	while (cfg->is_valid && !cfg_take(cfg, ')')) {
		held += take_predicate(cfg, depth);
		count++;
		if (cfg_take(cfg, ','))
			continue;
		cfg_expect(cfg, ')');
		break;
	}
	*ret_count = count;
	return held;
}

/* `depth` bounds the recursion. */
static bool take_predicate(struct cfg *cfg, unsigned depth)
{
	CLEANUP(free_ptr) char *name = cfg_take_name(cfg);
	size_t held, count;

	if (depth == DEPTH_MAX)
		cfg->is_valid = false;
	if (!cfg->is_valid || !cfg_take(cfg, '('))
		return cfg->is_valid && take_option(cfg, name);
	held = cfg_take_list(cfg, depth + 1, &count);
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
	CLEANUP(free_ptr) char *name = cfg_take_name(&cfg);
	bool holds;

	cfg.is_valid &= !strcmp(name, "cfg");
	cfg_expect(&cfg, '(');
	holds = cfg.is_valid && take_predicate(&cfg, 0);
	cfg_expect(&cfg, ')');
	cfg_skip_spaces(&cfg);
	return holds && cfg.is_valid && !*cfg.at;
}
