#include "format/perf_script/fields.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/nearest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t field;
} script_fields[] = {
	{"comm", SCRIPT_COMM},
	{"pid", SCRIPT_PID},
	{"tid", SCRIPT_TID},
	{"cpu", SCRIPT_CPU},
	{"time", SCRIPT_TIME},
	{"period", SCRIPT_PERIOD},
	{"event", SCRIPT_EVENT},
	{"ip", SCRIPT_IP},
	{"sym", SCRIPT_SYM},
	{"dso", SCRIPT_DSO},
	{"srcline", SCRIPT_SRCLINE},
	{"trace", SCRIPT_OTHERS},
	{"addr", SCRIPT_OTHERS},
	{"symoff", SCRIPT_OTHERS},
	{"dsoff", SCRIPT_OTHERS},
	{"iregs", SCRIPT_OTHERS},
	{"uregs", SCRIPT_OTHERS},
	{"brstack", SCRIPT_OTHERS},
	{"brstacksym", SCRIPT_OTHERS},
	{"brstackoff", SCRIPT_OTHERS},
	{"brstackinsn", SCRIPT_OTHERS},
	{"data_src", SCRIPT_OTHERS},
	{"weight", SCRIPT_OTHERS},
	{"bpf-output", SCRIPT_OTHERS},
	{"callindent", SCRIPT_OTHERS},
	{"insn", SCRIPT_OTHERS},
	{"insnlen", SCRIPT_OTHERS},
	{"synth", SCRIPT_OTHERS},
	{"phys_addr", SCRIPT_OTHERS},
	{"metric", SCRIPT_OTHERS},
	{"misc", SCRIPT_OTHERS},
	{"flags", SCRIPT_OTHERS},
	{"ipc", SCRIPT_OTHERS},
	{"tod", SCRIPT_OTHERS},
	{"data_page_size", SCRIPT_OTHERS},
	{"code_page_size", SCRIPT_OTHERS},
	{"ins_lat", SCRIPT_OTHERS},
	{"retire_lat", SCRIPT_OTHERS},
	{"machine_pid", SCRIPT_OTHERS},
	{"vcpu", SCRIPT_OTHERS},
	{"cgroup", SCRIPT_OTHERS},
};

static struct error *unknown_field(const char *name)
{
	const char *names[ARRAY_SIZE(script_fields) + 1] = {NULL};
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(script_fields); i++)
		names[i] = script_fields[i].name;
	near = nearest(name, names);
	return error_hint(error_new("unknown field \"%s\"", name),
			  near ? "did you mean %s?" : "the fields are those of perf script", near);
}

static struct error *fields_find_field(const char *name, uint32_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(script_fields); i++)
		if (!strcmp(script_fields[i].name, name)) {
			*ret = script_fields[i].field;
			return NULL;
		}
	return unknown_field(name);
}

static bool is_change(const char *word)
{
	return *word == '+' || *word == '-';
}

static struct error *fields_check(uint32_t chosen)
{
	if (!(chosen & SCRIPT_IP) && (chosen & (SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE)))
		return error_new("sym, dso and srcline need the field ip: add ip");
	return chosen & ~SCRIPT_OTHERS ? NULL : error_new("no fields to print");
}

struct error *script_fields_parse(const char *list, uint32_t *ret)
{
	CLEANUP(free_ptr) char *words = xstrdup(list);
	uint32_t chosen = is_change(list) ? *ret : 0;
	char *at = words, *word;

	while ((word = strsep(&at, ","))) {
		uint32_t field = 0;
		struct error *err = fields_find_field(word + is_change(word), &field);

		if (!err && is_change(word) != is_change(list))
			err = error_new(
				"+%s and -%s change the default fields and cannot be combined "
				"with a list that replaces them",
				word + is_change(word), word + is_change(word));
		if (err)
			return err;
		chosen = *word == '-' ? chosen & ~field : chosen | field;
	}
	*ret = chosen;
	return fields_check(chosen);
}
