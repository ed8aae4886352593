/*
 * The ProfilesDictionary of an OTLP request: the tables that its profiles refer
 * to by index. Index 0 of each is the zero value, which means none. Mappings
 * are those of pprof profiles (format/pprof/mapping.h). Functions and locations
 * have the profile's ids plus one. Stacks, attributes and strings get the next
 * index when they are first requested.
 */
#ifndef PROF_FORMAT_OTLP_DICTIONARY_H
#define PROF_FORMAT_OTLP_DICTIONARY_H

#include "base/strtab.h"
#include "format/pprof/mapping.h"
#include "format/pprof/wire.h"
#include "report/function_names.h"

struct otlp_dictionary {
	const struct profile *profile;
	struct strtab *strings;
	struct strtab *attributes;  /* encoded */
	uint32_t *stack_indexes;    /* by stack; 0 means not in the table yet */
	uint32_t stack_count;	    /* including the zero value */
	struct wire_message stacks; /* the fields of the table */
	struct pprof_mappings mappings;
	struct function_names names;
	struct wire_message message, nested, list; /* scratch */
};

/* Borrows the profile. */
void otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile,
			  enum name_style names);
void otlp_dictionary_deinit(struct otlp_dictionary *dictionary);

/* Returns the index of a string. Invalid UTF-8 is replaced. */
uint32_t otlp_string(struct otlp_dictionary *dictionary, const char *text);
uint32_t otlp_text_attribute(struct otlp_dictionary *dictionary, const char *key, const char *text);
uint32_t otlp_number_attribute(struct otlp_dictionary *dictionary, const char *key, int64_t number,
			       const char *unit);
uint32_t otlp_stack(struct otlp_dictionary *dictionary, stack_id stack);

/*
 * Appends the ProfilesDictionary's fields. No index may be requested after
 * that.
 */
void otlp_dictionary_put(struct otlp_dictionary *dictionary, struct wire_message *into);

/*
 * Appends a KeyValue whose value is a text: an attribute outside the
 * dictionary.
 */
void otlp_put_key_value(struct wire_message *into, uint32_t field, const char *key,
			const char *text);

#endif
