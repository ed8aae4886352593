/* Only this plugin loads the C++ library. run() returns 7 if all operators
 * work. */
#include <cstdint>
#include <new>
#include <string>
#include <vector>

struct alignas(64) aligned {
	char bytes[64];
};

static volatile size_t too_much = SIZE_MAX / 4;

static bool throws()
{
	try {
		char *volatile block = new char[too_much];
		delete[] block;
	} catch (std::bad_alloc &) {
		return true;
	}
	return false;
}

extern "C" int run()
{
	std::vector<std::string> strings;
	aligned *volatile few = new aligned[3];
	aligned *volatile one = new (std::nothrow) aligned;
	int result = throws();

	for (int i = 0; i < 1000; i++)
		strings.push_back(std::string(100, 'x'));
	result |= (reinterpret_cast<uintptr_t>(few) % 64 == 0) << 1;
	result |= (one && strings.size() == 1000) << 2;
	delete[] few;
	delete one;
	return result;
}
