// Throws exceptions through C callbacks and across threads, and has objects
// that end with their thread.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int throws(const void *, const void *)
{
	throw std::runtime_error(std::string(1000, 'x'));
}

static int through_callback()
{
	int numbers[] = {3, 2, 1}, caught = 0;

	for (int i = 0; i < 1000; i++)
		try {
			std::qsort(numbers, 3, sizeof(int), throws);
		} catch (const std::exception &error) {
			caught += std::string(error.what()).size() == 1000;
		}
	return caught;
}

struct held {
	std::map<int, std::string> texts;
	~held()
	{
		for (int i = 0; i < 100; i++)
			texts[i] = std::string(500, 'y');
		texts.clear();
	}
};

static int across_threads()
{
	static thread_local std::unique_ptr<held> own;
	int caught = 0;

	for (int i = 0; i < 100; i++) {
		auto result = std::async(std::launch::async, [] {
			own = std::make_unique<held>();
			own->texts[1] = "text";
			throw std::vector<int>(1000, 7);
		});
		try {
			result.get();
		} catch (const std::vector<int> &numbers) {
			caught += numbers.size() == 1000 && numbers[999] == 7;
		}
	}
	return caught;
}

static void *is_cancelled(void *result)
{
	try {
		held local;
		for (;;)
			pthread_testcancel();
	} catch (...) {
		*static_cast<int *>(result) = 1;
		throw;
	}
}

static int cancelled()
{
	int seen = 0;

	for (int i = 0; i < 20; i++) {
		int result = 0;
		pthread_t thread;

		pthread_create(&thread, nullptr, is_cancelled, &result);
		pthread_cancel(thread);
		pthread_join(thread, nullptr);
		seen += result;
	}
	return seen <= 20;
}

static int handler_calls;

static int no_memory()
{
	std::set_new_handler([] {
		if (++handler_calls == 3)
			std::set_new_handler(nullptr);
	});
	volatile std::size_t huge = PTRDIFF_MAX;
	try {
		::operator delete(::operator new(huge));
	} catch (const std::bad_alloc &) {
		return handler_calls + (::operator new(huge, std::nothrow) == nullptr);
	}
	return 0;
}

struct alignas(256) aligned {
	char bytes[256];
};

int main()
{
	auto many = std::make_unique<aligned[]>(100);

	std::printf("%d %d %d %d %d\n", through_callback(), across_threads(), cancelled(), no_memory(),
		    static_cast<int>(reinterpret_cast<std::size_t>(many.get()) % 256));
	std::atexit([] { std::puts(std::string(100, 'z').c_str()); });
	return 3;
}
