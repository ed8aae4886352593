/*
 * Skips a test that cannot run here: built without a library, too few privileges, an older kernel.
 *
 * The test returns after its cleanups and counts as skipped. cmocka's own skip() jumps over the
 * cleanups, and its "not ok 1 # SKIP" is a failure by the Test Anything Protocol.
 */
#ifndef PROF_TESTS_LACKING_H
#define PROF_TESTS_LACKING_H

#include <stdbool.h>

#define RETURN_LACKING(what)                                                                       \
	do {                                                                                       \
		lacking(what);                                                                     \
		return;                                                                            \
	} while (0)

/*
 * The thread sanitizer calls signal handlers from its own code, later than the
 * signal arrived. It has shadow memory for every page that was touched.
 */
#ifdef __has_feature
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#define HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define HAS_THREAD_SANITIZER 0
#define HAS_ADDRESS_SANITIZER 0
#endif

/* Marks the running test as skipped. The text is borrowed until the test has returned. */
void lacking(const char *what);

/* Marks all tests of a group as skipped instead of running them. Returns the
 * value for main(). */
int lacking_all(const char *what);

/* System calls that old kernels, containers and process emulators (qemu-user)
 * may lack. */
bool has_openat2(void);
bool has_process_vm_readv(void);
bool has_seccomp(void);

#endif
