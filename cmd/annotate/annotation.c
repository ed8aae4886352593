#include "cmd/annotate/annotate.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Returns the index of the instruction that covers the address, or the count if
 * none does. */
static size_t instruction_at(const struct listed_function *function, uint64_t vaddr)
{
	size_t low = 0, high = function->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct listed_instruction *at = &function->items[middle];

		if (vaddr < at->vaddr)
			high = middle;
		else if (vaddr - at->vaddr < at->size_bytes)
			return middle;
		else
			low = middle + 1;
	}
	return function->count;
}

static void annotation_add_addresses(struct annotated_code *piece, const struct function_sums *sums)
{
	size_t count = piece->function->count;

	piece->sums = xcalloc(count, sizeof(*piece->sums));
	piece->frames = xcalloc(count, sizeof(*piece->frames));
	piece->has_frame = xcalloc(count, sizeof(*piece->has_frame));
	for (uint32_t i = 0; i < sums->address_count; i++) {
		const struct address_sum *address = &sums->addresses[i];
		size_t at = instruction_at(piece->function, address->vaddr);

		if (at == count)
			continue;
		sum_add(&piece->sums[at].self, address->sum.self);
		sum_add(&piece->sums[at].total, address->sum.total);
		piece->frames[at] = address->frame;
		piece->has_frame[at] = true;
	}
}

static void annotation_add_piece(struct annotation *annotation,
				 const struct listed_function *function)
{
	struct annotated_code piece = {.function = function};

	annotation_add_addresses(&piece, &annotation->sums);
	annotation->pieces = xreallocarray(annotation->pieces, annotation->piece_count + 1,
					   sizeof(piece));
	annotation->pieces[annotation->piece_count++] = piece;
}

/* Stores the addresses of the first module and returns their number. They are
 * in ascending order and precede those of other modules. */
static size_t addresses_of_module(const struct function_sums *sums, uint64_t *vaddrs)
{
	size_t count = 0;

	while (count < sums->address_count &&
	       sums->addresses[count].module == sums->addresses[0].module) {
		vaddrs[count] = sums->addresses[count].vaddr;
		count++;
	}
	return count;
}

static bool annotation_is_listed(const struct annotation *annotation, const uint64_t *vaddrs,
				 size_t count)
{
	if (!annotation->code)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!module_code_covers(annotation->code, vaddrs[i]))
			return false;
	return true;
}

static struct error *list_code(struct annotation *annotation)
{
	const struct function_sums *sums = &annotation->sums;
	CLEANUP(free_ptr) uint64_t *vaddrs = xcalloc(sums->address_count, sizeof(*vaddrs));
	const struct module_code_request request = {
		.profile = annotation->profile,
		.module = sums->addresses[0].module,
		.vaddrs = vaddrs,
		.count = addresses_of_module(sums, vaddrs),
		.input = &annotation->options->input,
		.intel_syntax = annotation->options->intel_syntax,
	};

	if (annotation_is_listed(annotation, vaddrs, request.count))
		return NULL;
	module_code_free(STEAL(annotation->code));
	return module_code_new(&request, &annotation->code);
}

struct error *annotation_read_code(struct annotation *annotation)
{
	const char *name = annotation->options->function;
	const struct code_listing *listing;
	struct error *err;

	if (!annotation->sums.address_count)
		return error_hint(error_new("%s has no code of its own: it is inlined wherever it "
					    "is called",
					    name),
				  "prof report --callers %s shows where it is inlined", name);
	err = list_code(annotation);
	if (err)
		return err;
	listing = annotation->code->listing;
	if (!listing->count)
		return error_new("%s has no symbol for the code of %s", annotation->code->path,
				 name);
	for (size_t i = 0; i < listing->count; i++)
		annotation_add_piece(annotation, &listing->functions[i]);
	return NULL;
}

void annotation_deinit(struct annotation *annotation)
{
	for (size_t i = 0; i < annotation->piece_count; i++) {
		free(annotation->pieces[i].sums);
		free(annotation->pieces[i].frames);
		free(annotation->pieces[i].has_frame);
	}
	free(annotation->pieces);
	free(annotation->chosen);
	function_sums_deinit(&annotation->sums);
}
