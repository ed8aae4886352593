/*
 * Call frame information of one module: from a vaddr to the rule that finds the caller. Source:
 * DWARF 5, 6.4; LSB, .eh_frame and .eh_frame_hdr.
 *
 * .eh_frame first, then .debug_frame (of the file or of its debug file). Nothing is tabulated up
 * front: .eh_frame_hdr is searched in place; only a section without it is indexed, when first
 * asked.
 */
#ifndef PROF_UNWIND_CFI_H
#define PROF_UNWIND_CFI_H

#include "base/bytes.h"
#include "elf/image.h"
#include "unwind/arch.h"

/* How one value of the caller is found. */
enum cfi_how {
	CFI_UNDEFINED,	   /* not recoverable; the return address: this is the outermost frame */
	CFI_SAME,	   /* unchanged */
	CFI_AT_CFA,	   /* saved at CFA + offset */
	CFI_CFA_PLUS,	   /* is CFA + offset */
	CFI_REGISTER,	   /* is register `reg` + offset */
	CFI_EXPRESSION_AT, /* saved where the expression says; it starts with the CFA pushed */
	CFI_EXPRESSION,	   /* is what the expression says; likewise */
};

struct cfi_value {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	uint32_t expression_bytes;
	union {
		int64_t offset;
		const unsigned char *expression; /* DWARF operations, borrowed from the image */
	};
};

struct cfi_row {
	struct cfi_value cfa; /* CFI_REGISTER, or CFI_EXPRESSION without a CFA to start with */
	struct cfi_value regs[REGS_MAX]; /* by DWARF number; the return address at arch->ra */
};

/* Holds for every vaddr in [start, end). */
struct cfi_rule {
	uint64_t start, end;
	bool signal_frame; /* augmentation S: the caller was interrupted, not calling */
	struct cfi_row row;
};

struct cfi;

/* Never fails: a module without usable CFI finds nothing. The images must outlive it; debug may be
 * NULL. */
struct cfi *cfi_new(struct image *image, struct image *debug, const struct arch *arch);
void cfi_free(struct cfi *cfi);
DEFINE_CLEANUP(cfi, cfi_free)

/*
 * Go: every function with a frame has a frame pointer, and its CFI is silent about it; cfi_find()
 * says it. What switches stacks (runtime.mcall, systemstack) CFI describes wrongly, frame pointers
 * rightly: 0 where the stack ends, else into the other stack.
 */
bool cfi_is_go(const struct cfi *cfi);

/* False: no sound entry covers vaddr. Registers an entry is silent about follow the psABI. */
bool cfi_find(struct cfi *cfi, uint64_t vaddr, struct cfi_rule *ret);

#endif
