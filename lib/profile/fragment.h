/*
 * Symbols of the parts and copies that compilers, linkers and optimizers make of a function:
 * "parse.cold", "parse.part.0.isra.1", "parse.llvm.123". For people they are the function.
 *
 * Sources: gcc, clone_function_name() (.cold, .constprop.N, .isra.N, .part.N, .localalias,
 * .lto_priv.N), .clone.N before gcc 4.6, and .N of nested functions; LLVM, CodeExtractor (.cold.N),
 * MachineFunctionSplitter (.cold), basic block sections (.__part.N, .cold, .eh), ThinLTO (.llvm.N),
 * -funique-internal-linkage-names (.__uniq.N), FunctionSpecialization (.specialized.N), argument
 * promotion (.argprom, .argelim, .retelim); BOLT (.cold.N, .warm, .org.N).
 */
#ifndef PROF_PROFILE_FRAGMENT_H
#define PROF_PROFILE_FRAGMENT_H

#include <stddef.h>

/*
 * Returns the length of the function's name in a symbol: all but the suffixes at its end. Versions
 * of a function for other processors (.avx2.0) and functions made of its code (._omp_fn.0, .actor)
 * keep their suffix. Names of Go and of code compiled at run time end with any word: do not ask.
 */
size_t fragment_function_length(const char *symbol);

#endif
