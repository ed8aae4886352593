#include "sandbox/landlock.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct landlock_ruleset_attr of ABI 6, which older headers lack. */
struct rules {
	uint64_t files, network, scopes;
};

/* struct landlock_path_beneath_attr. */
struct landlock_rule {
	uint64_t files;
	int32_t directory;
} __attribute__((packed));

enum {
	QUERY_VERSION = 1 << 0,
	PATH_BENEATH = 1,
	/* All kinds of access of an ABI: to files, the network and other
	 * processes. */
	FILES_1 = (1 << 13) - 1,
	FILES_2 = (1 << 14) - 1,
	FILES_3 = (1 << 15) - 1,
	NETWORK_4 = (1 << 2) - 1,
	FILES_5 = (1 << 16) - 1,
	SCOPES_6 = (1 << 2) - 1,
	/* Single access rights. */
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIRECTORY = 1 << 3,
	REMOVE_DIRECTORY = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_DIRECTORY = 1 << 7,
	MAKE_FILE = 1 << 8,
	RENAME = 1 << 13,
	TRUNCATE = 1 << 14,
	BIND_TCP = 1 << 0,
};

/* These system calls have the same numbers on all architectures. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };

static const struct rules rules_by_abi[] = {
	{.files = 0},
	{.files = FILES_1},
	{.files = FILES_2},
	{.files = FILES_3},
	{.files = FILES_3, .network = NETWORK_4},
	{.files = FILES_5, .network = NETWORK_4},
	{FILES_5, NETWORK_4, SCOPES_6},
};
static const size_t size_by_abi[ARRAY_SIZE(rules_by_abi)] = {0, 8, 8, 8, 16, 16, 24};

/* Returns 0 if the kernel lacks Landlock. */
static unsigned find_abi(void)
{
	long abi = syscall(CREATE_RULESET, NULL, 0, QUERY_VERSION);

	if (abi < 1)
		return 0;
	return abi < (long)ARRAY_SIZE(rules_by_abi) ? (unsigned)abi : ARRAY_SIZE(rules_by_abi) - 1;
}

/* Denies the accesses in `rules`, except where `rule` allows them. */
static struct error *restrict_to(unsigned abi, const struct rules *rules,
				 const struct landlock_rule *rule)
{
	CLEANUP(close_fd)
	int ruleset = (int)syscall(CREATE_RULESET, rules, size_by_abi[abi], 0);

	if (ruleset < 0)
		return error_errno(errno, "make a Landlock ruleset");
	if (rule && syscall(ADD_RULE, ruleset, PATH_BENEATH, rule, 0) < 0)
		return error_errno(errno, "add a rule to a Landlock ruleset");
	if (syscall(RESTRICT_SELF, ruleset, 0) < 0)
		return error_errno(errno, "apply a Landlock ruleset");
	return NULL;
}

struct error *landlock_allow_nothing(void)
{
	unsigned abi = find_abi();

	return abi ? restrict_to(abi, &rules_by_abi[abi], NULL) : NULL;
}

struct error *landlock_write_below(int directory)
{
	unsigned abi = find_abi();
	struct rules rules = rules_by_abi[abi];
	struct landlock_rule rule = {.files = WRITE_FILE | REMOVE_DIRECTORY | REMOVE_FILE |
					      MAKE_DIRECTORY | MAKE_FILE | RENAME | TRUNCATE,
				     .directory = directory};

	if (!abi)
		return NULL;
	rule.files &= rules.files;
	rules.files &= ~(uint64_t)(READ_FILE | READ_DIRECTORY);
	rules.network &= BIND_TCP;
	return restrict_to(abi, &rules, directory < 0 ? NULL : &rule);
}
