/*
 * Finds the places of one ELF file that a probe refers to. All functions read
 * the file, so they must run in a confined process.
 */
#ifndef PROF_PROBE_QUESTION_H
#define PROF_PROBE_QUESTION_H

#include "base/error.h"
#include "elf/elf_file.h"
#include "probe/places.h"
#include "probe/spec.h"

/* All pointers are borrowed. */
struct probe_question {
	const struct probe_spec *spec;
	struct elf_file *elf;
	struct elf_file *debug; /* separate debug file, or NULL */
	struct elf_file *alt;	/* dwz's supplementary file, or NULL */
	bool can_disassemble;	/* disassembly_load() has succeeded */
};

/*
 * Find places by name or address, by line, and of static probes. Each function
 * fails if it finds nothing, and its error lists similar names or lines.
 */
MUST_CHECK struct error *probe_find_functions(const struct probe_question *question,
					      struct probe_places *ret);
MUST_CHECK struct error *probe_find_lines(const struct probe_question *question,
					  struct probe_places *ret);
MUST_CHECK struct error *probe_find_static(const struct probe_question *question,
					   struct probe_places *ret);

static inline struct error *probe_find(const struct probe_question *question,
				       struct probe_places *ret)
{
	if (question->spec->kind == PROBE_STATIC)
		return probe_find_static(question, ret);
	if (question->spec->place == PROBE_BY_LINE)
		return probe_find_lines(question, ret);
	return probe_find_functions(question, ret);
}

#endif
