#include "cmd/annotate.h"

#include "base/alloc.h"

#include <stdlib.h>

/* An instruction at or around the address; count: none. */
static size_t instruction_at(const struct disassembly *disassembly, uint64_t vaddr)
{
	size_t low = 0, high = disassembly->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct instruction *at = &disassembly->items[middle];

		if (vaddr < at->vaddr)
			high = middle;
		else if (vaddr - at->vaddr < at->size_bytes)
			return middle;
		else
			low = middle + 1;
	}
	return disassembly->count;
}

static void add_addresses(struct annotated_code *piece, const struct listing *listing)
{
	size_t count = piece->disassembly.count;

	piece->sums = xcalloc(count, sizeof(*piece->sums));
	piece->frames = xcalloc(count, sizeof(*piece->frames));
	piece->has_frame = xcalloc(count, sizeof(*piece->has_frame));
	for (uint32_t i = 0; i < listing->address_count; i++) {
		const struct listing_address *address = &listing->addresses[i];
		size_t at = instruction_at(&piece->disassembly, address->vaddr);

		if (at == count)
			continue;
		sum_add(&piece->sums[at].self, address->sum.self);
		sum_add(&piece->sums[at].total, address->sum.total);
		piece->frames[at] = address->frame;
		piece->has_frame[at] = true;
	}
}

static struct error *disassemble(struct annotation *annotation, const struct symbol *symbol)
{
	struct annotated_code piece = {.symbol = *symbol};
	struct error *err = disassembly_init(&piece.disassembly, annotation->code.image,
					     symbol->vaddr, symbol->size_bytes,
					     annotation->options->intel_syntax);

	if (err)
		return err;
	add_addresses(&piece, &annotation->listing);
	annotation->pieces = xreallocarray(annotation->pieces, annotation->piece_count + 1,
					   sizeof(piece));
	annotation->pieces[annotation->piece_count++] = piece;
	return NULL;
}

struct error *annotation_read_code(struct annotation *annotation)
{
	const struct listing *listing = &annotation->listing;
	uint64_t end = 0;
	struct error *err = NULL;

	if (!listing->address_count)
		return error_hint(error_new("%s has no code of its own: it is inlined wherever it "
					    "is called",
					    annotation->options->function),
				  "prof report --callers %s shows into which functions",
				  annotation->options->function);
	if (!annotation->code.image) {
		err = code_open(&annotation->code, annotation->profile,
				listing->addresses[0].module, &annotation->options->input);
		if (err)
			return err;
	}
	for (uint32_t i = 0; !err && i < listing->address_count; i++) {
		uint64_t vaddr = listing->addresses[i].vaddr;
		struct symbol symbol;

		if (vaddr < end || !code_symbol(&annotation->code, vaddr, &symbol))
			continue;
		end = symbol.vaddr + symbol.size_bytes;
		err = disassemble(annotation, &symbol);
	}
	if (!err && !annotation->piece_count)
		err = error_new("no symbol of %s says where the code of %s begins and ends",
				image_name(annotation->code.image), annotation->options->function);
	return err;
}

void annotation_deinit(struct annotation *annotation)
{
	for (size_t i = 0; i < annotation->piece_count; i++) {
		disassembly_deinit(&annotation->pieces[i].disassembly);
		free(annotation->pieces[i].sums);
		free(annotation->pieces[i].frames);
		free(annotation->pieces[i].has_frame);
	}
	free(annotation->pieces);
	free(annotation->chosen);
	listing_deinit(&annotation->listing);
}
