/*
 * Recognizes symbols of the parts and copies that compilers, linkers and
 * optimizers make of a function: "parse.cold", "parse.part.0.isra.1",
 * "parse.llvm.123". Reports show them as the function.
 *
 * Sources: gcc, clone_function_name() (.cold, .constprop.N, .isra.N, .part.N,
 * .localalias, .lto_priv.N), .clone.N before gcc 4.6, and .N of nested
 * functions; LLVM, CodeExtractor (.cold.N), MachineFunctionSplitter (.cold),
 * basic block sections (.__part.N, .cold, .eh), ThinLTO (.llvm.N),
 * -funique-internal-linkage-names (.__uniq.N), FunctionSpecialization
 * (.specialized.N), argument promotion (.argprom, .argelim, .retelim); BOLT
 * (.cold.N, .warm, .org.N).
 */
#ifndef PROF_PROFILE_FRAGMENT_H
#define PROF_PROFILE_FRAGMENT_H

#include <stddef.h>

/*
 * Returns the length of the function's name in a symbol, without these
 * suffixes. Versions of a function for other processors (.avx2.0) and functions
 * made of its code (._omp_fn.0, .actor) keep their suffix. Not for names of Go
 * or of JIT code, which may end in any word.
 */
size_t fragment_function_length(const char *symbol);

#endif
