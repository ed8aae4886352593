/*
 * Parses the entries of .eh_frame and .debug_frame: common information entries
 * (CIE) and frame description entries (FDE). Source: DWARF 5, 6.4.1; LSB Core,
 * "Exception Frames" (augmentations, pointer encodings).
 */
#ifndef PROF_UNWIND_CFI_ENTRY_H
#define PROF_UNWIND_CFI_ENTRY_H

#include "base/bytes.h"

struct cfi_section {
	struct bytes data;
	uint64_t vaddr;	  /* address of `data`, for pc-relative pointers */
	bool is_eh_frame; /* false for .debug_frame */
	unsigned word_bytes;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;	     /* return address column */
	uint8_t pc_encoding; /* DW_EH_PE_* encoding of the addresses in its FDEs */
	bool augmented;	     /* 'z': its FDEs have augmentation data */
	bool signal_frame;   /* 'S': describes a signal frame */
	struct bytes program;
};

struct cfi_fde {
	struct cfi_cie cie;
	uint64_t start, end; /* vaddrs */
	struct bytes program;
};

/* Returns false if there is no valid FDE at the offset. */
bool cfi_fde_read(const struct cfi_section *section, uint64_t offset, struct cfi_fde *ret);
/*
 * Advances *offset to the next entry of any kind. Returns false at the last
 * entry or if the entry is malformed.
 */
bool cfi_entry_next(const struct cfi_section *section, uint64_t *offset);

/*
 * Reads a DW_EH_PE_* pointer at the cursor, which must be within the section.
 * Only absolute and pc-relative pointers are supported; any other encoding
 * fails the cursor.
 */
uint64_t cfi_pointer(const struct cfi_section *section, struct bytes *from, uint8_t encoding);
/* Reads the encoded value without adding its base. */
uint64_t cfi_pointer_value(const struct cfi_section *section, struct bytes *from, uint8_t encoding);

#endif
