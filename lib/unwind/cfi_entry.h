/*
 * The entries of .eh_frame and .debug_frame: common information (CIE) and frame descriptions (FDE).
 * Source: DWARF 5, 6.4.1; LSB Core, "Exception Frames" (augmentations, pointer encodings).
 */
#ifndef PROF_UNWIND_CFI_ENTRY_H
#define PROF_UNWIND_CFI_ENTRY_H

#include "base/bytes.h"

struct cfi_section {
	struct bytes data;
	uint64_t vaddr;	  /* of data, for pc-relative pointers */
	bool is_eh_frame; /* else .debug_frame */
	unsigned word_bytes;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;	     /* return address column */
	uint8_t pc_encoding; /* DW_EH_PE_* of addresses in its FDEs */
	bool augmented;	     /* z: its FDEs have augmentation data */
	bool signal_frame;   /* S */
	struct bytes program;
};

struct cfi_fde {
	struct cfi_cie cie;
	uint64_t start, end; /* vaddrs */
	struct bytes program;
};

/* False if no valid FDE begins at the offset. */
bool cfi_fde_read(const struct cfi_section *section, uint64_t offset, struct cfi_fde *ret);
/* Advances *offset to the next entry of any kind. False at the last entry or at a damaged one. */
bool cfi_entry_next(const struct cfi_section *section, uint64_t *offset);

/*
 * Reads a DW_EH_PE_* pointer at the cursor within the section. Supports absolute and pc-relative
 * pointers; any other fails the cursor.
 */
uint64_t cfi_pointer(const struct cfi_section *section, struct bytes *from, uint8_t encoding);
/* The encoded value alone, without its base. */
uint64_t cfi_pointer_value(const struct cfi_section *section, struct bytes *from, uint8_t encoding);

#endif
