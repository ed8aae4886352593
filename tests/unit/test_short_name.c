#include "report/short_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A full name, and the short name that people use. */
struct named {
	const char *full, *said;
};

/* From programs with serde, regex, tokio, rayon and the standard library, in
 * both mangling schemes. */
static const struct named rust[] = {
	{"alloc::vec::Vec<T,A>::push", "Vec::push"},
	{"<alloc::vec::Vec<u8>>::push", "Vec<u8>::push"},
	{"<alloc::vec::Vec<T,A> as core::iter::traits::collect::Extend<T>>"
	 "::extend",
	 "Vec::extend"},
	{"<alloc::vec::Vec<alloc::string::String> as core::iter::traits::c"
	 "ollect::Extend<alloc::string::String>>::extend::<core::iter::ada"
	 "pters::map::Map<core::slice::iter::Iter<u8>, corpus::main::{clos"
	 "ure#0}>>",
	 "Vec<String>::extend"},
	{"<A as core::slice::cmp::SliceOrd>::compare", "SliceOrd::compare"},
	{"<u8 as core::slice::cmp::SliceOrd>::compare", "<u8 as SliceOrd>::compare"},
	{"<[A] as core::slice::cmp::SlicePartialOrd>::partial_compare",
	 "<[A] as SlicePartialOrd>::partial_compare"},
	{"<&T as core::fmt::Debug>::fmt", "Debug::fmt"},
	{"<&mut F as core::ops::function::FnMut<A>>::call_mut", "FnMut::call_mut"},
	{"<alloc::string::String as core::fmt::Display>::fmt", "<String as Display>::fmt"},
	{"<alloc::string::String as core::fmt::Write>::write_str", "String::write_str"},
	{"<std::io::Write::write_fmt::Adapter<T> as core::fmt::Write>::wri"
	 "te_str",
	 "Adapter::write_str"},
	{"core::fmt::Write::write_fmt", "Write::write_fmt"},
	{"std::io::Write::write_all", "Write::write_all"},
	{"core::iter::traits::iterator::Iterator::fold", "Iterator::fold"},
	{"<core::ops::range::Range<u64> as core::iter::traits::iterator::I"
	 "terator>::fold::<u64, corpus::generic::{closure#0}>",
	 "Range<u64>::fold"},
	{"core::ptr::drop_in_place<alloc::vec::Vec<corpus::Item>>",
	 "ptr::drop_in_place<Vec<Item>>"},
	{"core::ptr::drop_in_place::<core::option::Option<alloc::boxed::Bo"
	 "x<tokio::runtime::scheduler::current_thread::Core>>>",
	 "ptr::drop_in_place<Option<Box<Core>>>"},
	{"core::ops::function::FnOnce::call_once{{vtable.shim}}",
	 "FnOnce::call_once{{vtable.shim}}"},
	{"<corpus::main::{closure#0} as core::ops::function::FnOnce<()>>::"
	 "call_once::{shim:vtable#0}",
	 "<main::{closure#0} as FnOnce>::call_once::{shim:vtable#0}"},
	{"core::ops::function::FnOnce::call_once", "FnOnce::call_once"},
	{"alloc::slice::<impl [T]>::to_vec", "slice::to_vec"},
	{"core::str::<impl str>::parse", "str::parse"},
	{"core::num::<impl u64>::wrapping_mul", "u64::wrapping_mul"},
	{"core::ptr::mut_ptr::<impl *mut T>::write", "pointer::write"},
	{"core::ptr::const_ptr::<impl *const T>::add", "pointer::add"},
	{"<*const u8>::add", "pointer::add"},
	{"<[u8]>::to_vec", "slice::to_vec"},
	{"<[core::mem::maybe_uninit::MaybeUninit<u8>; 4]>::len", "array::len"},
	{"core::fmt::num::imp::<impl core::fmt::Display for u64>::fmt", "<u64 as Display>::fmt"},
	{"core::iter::range::<impl core::iter::traits::iterator::Iterator "
	 "for core::ops::range::Range<A>>::next",
	 "Range::next"},
	{"core::array::<impl core::ops::index::Index<I> for [T; N]>::index",
	 "<[T; N] as Index>::index"},
	{"std::panicking::try", "panicking::try"},
	{"std::panic::catch_unwind", "panic::catch_unwind"},
	{"std::rt::lang_start_internal", "rt::lang_start_internal"},
	{"std::rt::lang_start::<()>::{closure#0}", "rt::lang_start::{closure#0}"},
	{"std::rt::lang_start::{{closure}}", "rt::lang_start::{closure}"},
	{"std::sys::backtrace::__rust_begin_short_backtrace",
	 "backtrace::__rust_begin_short_backtrace"},
	{"std::thread::local::LocalKey<T>::with", "LocalKey::with"},
	{"std::collections::hash::map::HashMap<K,V,S>::insert", "HashMap::insert"},
	{"<std::collections::hash::map::HashMap<alloc::string::String, u64"
	 ">>::insert",
	 "HashMap<String, u64>::insert"},
	{"<hashbrown::raw::RawTable<(&str, usize)>>::reserve_rehash::<hash"
	 "brown::map::make_hasher<&str, usize, std::hash::random::RandomSt"
	 "ate>::{closure#0}>",
	 "hashbrown::RawTable<(&str, usize)>::reserve_rehash"},
	{"alloc::collections::btree::map::BTreeMap<K,V,A>::insert", "BTreeMap::insert"},
	{"tokio::runtime::task::harness::Harness<T,S>::poll", "tokio::Harness::poll"},
	{"<tokio::runtime::task::harness::Harness<corpus::handler::{closur"
	 "e#0}, alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::"
	 "handle::Handle>>>::poll",
	 "tokio::Harness<{closure#0}, Arc>::poll"},
	{"tokio::runtime::scheduler::multi_thread::worker::Context::run_ta"
	 "sk",
	 "tokio::Context::run_task"},
	{"tokio::runtime::scheduler::multi_thread::worker::run", "tokio::worker::run"},
	{"tokio::runtime::task::core::Core<T,S>::poll::{{closure}}",
	 "tokio::Core::poll::{closure}"},
	{"<core::pin::Pin<P> as core::future::future::Future>::poll", "Pin::poll"},
	{"<futures_util::stream::stream::buffer_unordered::BufferUnordered"
	 "<St> as futures_core::stream::Stream>::poll_next",
	 "futures_util::BufferUnordered::poll_next"},
	{"serde_json::ser::to_string", "serde_json::ser::to_string"},
	{"serde_json::de::from_str", "serde_json::de::from_str"},
	{"<&mut serde_json::de::Deserializer<R> as serde_core::de::Deseria"
	 "lizer>::deserialize_struct",
	 "serde_json::Deserializer::deserialize_struct"},
	{"<serde_json::read::SliceRead as serde_json::read::Read>::parse_s"
	 "tr",
	 "serde_json::SliceRead::parse_str"},
	{"regex_automata::meta::strategy::Core::search", "regex_automata::Core::search"},
	{"<regex_automata::meta::strategy::Core as regex_automata::meta::s"
	 "trategy::Strategy>::search",
	 "regex_automata::Core::search"},
	{"regex_automata::hybrid::search::find_fwd", "regex_automata::search::find_fwd"},
	{"<rayon::iter::plumbing::bridge_producer_consumer::helper as core"
	 "::ops::function::FnOnce<()>>::call_once",
	 "rayon::helper::call_once"},
	{"rayon::iter::plumbing::bridge_producer_consumer::helper",
	 "rayon::bridge_producer_consumer::helper"},
	{"rayon_core::registry::WorkerThread::wait_until_cold",
	 "rayon_core::WorkerThread::wait_until_cold"},
	{"rayon_core::join::join_context::{{closure}}",
	 "rayon_core::join::join_context::{closure}"},
	{"<rayon_core::job::StackJob<L,F,R> as rayon_core::job::Job>::exec"
	 "ute",
	 "rayon_core::StackJob::execute"},
	{"clap_builder::parser::parser::Parser::get_matches_with",
	 "clap_builder::Parser::get_matches_with"},
	{"hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_write",
	 "hyper::Dispatcher::poll_write"},
	{"corpus::main", "corpus::main"},
	{"corpus::generic", "corpus::generic"},
	{"corpus::generic::<u8>", "corpus::generic"},
	{"corpus::A<T>::show", "corpus::A::show"},
	{"<corpus::A<u8> as corpus::Work>::work", "corpus::A<u8>::work"},
	{"<corpus::A<u8> as corpus::Work>::work::{{closure}}", "corpus::A<u8>::work::{closure}"},
	{"<[u8; N] as corpus::Work>::work", "<[u8; N] as Work>::work"},
	{"<[u8; 16] as corpus::Work>::work", "<[u8; 16] as Work>::work"},
	{"<(u8, &str) as corpus::Work>::work", "<(u8, &str) as Work>::work"},
	{"<fn(u64) -> u64 as corpus::Work>::work", "<fn(u64) -> u64 as Work>::work"},
	{"<dyn core::ops::function::Fn<(u64,), Output = u64> + core::marke"
	 "r::Send as corpus::Work>::work",
	 "<dyn Fn + Send as Work>::work"},
	{"<dyn core::any::Any>::downcast_ref::<u64>", "<dyn Any>::downcast_ref"},
	{"tokio (runtime)", "tokio (runtime)"},
	{"shop::cart::Cart::total (async)", "shop::Cart::total (async)"},
	{"corpus::query::{async_fn#0}", "corpus::query (async)"},
	{"corpus::query::{async_fn#0}::{closure#1}", "corpus::query::{closure#1}"},
	{"corpus::query::{async_fn#0}::{async_block#0}", "corpus::query (async block)"},
	{"shop::main::{{closure}}::{{closure}}::{async_block#12}", "shop::main (async block #12)"},
	{"<shop::Cart as shop::Pay>::pay::{async_block#0} [clone .cold]",
	 "shop::Cart::pay (async block)"},
	{"{async_block#0}", "{async_block#0}"},
	{"corpus::two_closures::{closure#1}::{closure#0}",
	 "corpus::two_closures::{closure#1}::{closure#0}"},
	{"corpus::two_closures::{{closure}}::{{closure}}",
	 "corpus::two_closures::{closure}::{closure}"},
	{"<<f64 as serde_core::de::Deserialize>::deserialize::PrimitiveVis"
	 "itor as serde_core::de::Visitor>::visit_f64",
	 "<PrimitiveVisitor as Visitor>::visit_f64"},
	{"<core::result::Result<T,E> as core::ops::try_trait::Try>::branch", "Result::branch"},
	{"<u64 as core::iter::traits::accum::Sum>::sum", "<u64 as Sum>::sum"},
	{"<I as core::iter::traits::collect::IntoIterator>::into_iter", "IntoIterator::into_iter"},
	{"<T as alloc::slice::<impl [T]>::to_vec_in::ConvertVec>::to_vec", "ConvertVec::to_vec"},
	{"<T as alloc::string::ToString>::to_string", "ToString::to_string"},
	{"<corpus::Buffer<3usize> as core::clone::Clone>::clone", "corpus::Buffer<3usize>::clone"},
	{"<aho_corasick::packed::teddy::builder::x86_64::SlimSSSE3<4> as c"
	 "ore::fmt::Debug>::fmt",
	 "<SlimSSSE3 as Debug>::fmt"},
	{"__rustc::__rust_alloc", "__rust_alloc"},
	{"__rust_alloc", "__rust_alloc"},
};

static const struct named cpp[] = {
	{"std::vector<int, std::allocator<int> >::push_back(int const&)",
	 "std::vector<int>::push_back"},
	{"std::vector<int, std::allocator<int>>::push_back(int const&)",
	 "std::vector<int>::push_back"},
	{"void geometry::sum<int>(int)", "geometry::sum<int>"},
	{"geometry::sum(std::vector<geometry::Point, std::allocator<geomet"
	 "ry::Point> > const&)",
	 "geometry::sum"},
	{"std::__cxx11::basic_string<char, std::char_traits<char>, std::al"
	 "locator<char> >::_M_append(char const*, unsigned long)",
	 "std::string::_M_append"},
	{"std::map<std::__cxx11::basic_string<char, std::char_traits<char>"
	 ", std::allocator<char> >, int, std::less<std::__cxx11::basic_str"
	 "ing<char, std::char_traits<char>, std::allocator<char> > >, std:"
	 ":allocator<std::pair<std::__cxx11::basic_string<char, std::char_"
	 "traits<char>, std::allocator<char> > const, int> > >::operator[]"
	 "(std::__cxx11::basic_string<char, std::char_traits<char>, std::a"
	 "llocator<char> > const&)",
	 "std::map<string, int>::operator[]"},
	{"std::ostream& std::operator<< <std::char_traits<char> >(std::ost"
	 "ream&, char const*)",
	 "std::operator<<"},
	{"std::ostream::operator<<(int)", "std::ostream::operator<<"},
	{"Matrix::operator()(unsigned long, unsigned long) const", "Matrix::operator()"},
	{"main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}"},
	{"auto run(int)::{lambda(auto:1)#2}::operator()<int>(int) const", "run::{lambda#2}"},
	{"std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_in"
	 "voke(std::_Any_data const&, int&&)",
	 "std::_Function_handler::_M_invoke"},
	{"std::function<void (int)>::operator()(int) const",
	 "std::function<void (int)>::operator()"},
	{"long (anonymous namespace)::pick<char>(char, long)", "pick<char>"},
	{"(anonymous namespace)::parse(char const*)", "parse"},
	{"llvm::(anonymous namespace)::DAGCombiner::visit(llvm::SDNode*)",
	 "llvm::DAGCombiner::visit"},
	{"llvm::SmallVectorImpl<llvm::Value*>::operator=(llvm::SmallVector"
	 "Impl<llvm::Value*> const&)",
	 "llvm::SmallVectorImpl<Value*>::operator="},
	{"void std::sort<__gnu_cxx::__normal_iterator<int*, std::vector<in"
	 "t, std::allocator<int> > > >(__gnu_cxx::__normal_iterator<int*, "
	 "std::vector<int, std::allocator<int> > >, __gnu_cxx::__normal_it"
	 "erator<int*, std::vector<int, std::allocator<int> > >)",
	 "std::sort<__normal_iterator>"},
	{"std::unique_ptr<Foo, std::default_delete<Foo> >::~unique_ptr()",
	 "std::unique_ptr<Foo>::~unique_ptr"},
	{"Foo::operator bool() const", "Foo::operator bool"},
	{"Foo::operator std::string() const", "Foo::operator std::string"},
	{"operator new(unsigned long)", "operator new"},
	{"operator delete(void*)", "operator delete"},
	{"foo(int) [clone .cold]", "foo"},
	{"foo[abi:cxx11](int)", "foo"},
	{"non-virtual thunk to Derived::run()", "Derived::run"},
	{"std::enable_if<((3)>(2)), int>::type pick<int>(int)", "pick<int>"},
	{"bool operator< <int>(Wrapper<int> const&, Wrapper<int> const&)", "operator< <int>"},
	{"boost::asio::detail::scheduler::do_run_one(boost::asio::detail::"
	 "conditionally_enabled_mutex::scoped_lock&, boost::system::error_"
	 "code const&)",
	 "boost::scheduler::do_run_one"},
	{"decltype(auto) std::__invoke<int (&)(int), int>(int (&)(int), in"
	 "t&&)",
	 "std::__invoke<int (&)(int), int>"},
	{"foo(int)@plt", "foo(int)@plt"},
	{"malloc@plt", "malloc@plt"},
};

static const struct named go[] = {
	{"regexp.(*Regexp).doExecute", "regexp.(*Regexp).doExecute"},
	{"github.com/user/repo/pkg.(*Server).Handle", "pkg.(*Server).Handle"},
	{"sync.(*Map[go.shape.string,go.shape.int]).Load", "sync.(*Map).Load"},
	{"slices.Sort[go.shape.[]int]", "slices.Sort"},
	{"runtime.mallocgc", "runtime.mallocgc"},
	{"runtime/pprof.Do", "pprof.Do"},
	{"net/http.HandlerFunc.ServeHTTP", "http.HandlerFunc.ServeHTTP"},
	{"github.com/user/repo/v2.(*Server).Handle.func1", "v2.(*Server).Handle.func1"},
	{"main.server.handle", "main.server.handle"},
};

static const struct named java[] = {
	{"java.lang.Runnable java.util.concurrent.ThreadPoolExecutor.getTask()",
	 "ThreadPoolExecutor.getTask"},
	{"int java.util.HashMap.hash(java.lang.Object)", "HashMap.hash"},
	{"void java.lang.Object.<init>()", "Object.<init>"},
	{"java.lang.String.indexOf(int)", "String.indexOf"},
	{"long Shop$Cart.total(Shop$Item, java.lang.String[])", "Shop$Cart.total"},
	{"java.lang.Long shop.Main.lambda$main$1(java.lang.String[])", "Main.lambda$main$1"},
	{"long Shop$$Lambda$3/0x00007f02.f(long)", "Shop$$Lambda$3.f"},
	{"java.util.HashMap.get", "HashMap.get"},
	{"java/util/concurrent/ThreadPoolExecutor.getTask_[j]", "ThreadPoolExecutor.getTask_[j]"},
	{"Ljava/util/HashMap;::get", "HashMap.get"},
	{"shop.Main.run", "shop.Main.run"}, /* could be of Go */
};

static const struct named python[] = {
	{"py::pure:/srv/batch.py", "pure (batch.py)"},
	{"py::Cart.<locals>.total:/srv/shop/cart.py", "Cart.<locals>.total (cart.py)"},
	{"py::_find_spec:<frozen importlib._bootstrap>",
	 "_find_spec (<frozen importlib._bootstrap>)"},
	{"pure (/srv/batch.py:9)", "pure (batch.py:9)"},
	{"pure (batch.py:9)", "pure (batch.py:9)"},
	{"py::<module>:/usr/lib/json/__init__.py", "<module> (json/__init__.py)"},
	{"py::<module>:/__main__.py", "<module> (/__main__.py)"},
	{"py::<module>:__main__.py", "<module> (__main__.py)"},
};

static const char *const unchanged[] = {
	"main",
	"malloc",
	"_int_malloc",
	"[unknown]",
	"LazyCompile:~tick shop.js:12",
	"py::f",
	"kworker/0:1",
	"/usr/lib/libfoo.so",
	"Foo.part.0",
	"Object.<anonymous>",
	"_ZN3foo",
	"foo.part.0",
	"[libc.so.6+0x1234]",
	"<module>",
	"Function:~f /src/x.js:3:4",
	"LazyCompile:*foo /src/x.js:3:4",
	"__x64_sys_read",
};

static void assert_short(const char *full, const char *said)
{
	CLEANUP(free_ptr) char *name = short_name(full, GENERICS_SHORT);

	assert_string_equal(name, said);
}

static void assert_all_short(const struct named *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_short(names[i].full, names[i].said);
}

TEST(names_of_rust_are_as_people_say_them)
{
	assert_all_short(rust, ARRAY_SIZE(rust));
}

TEST(names_of_cpp_are_as_people_say_them)
{
	assert_all_short(cpp, ARRAY_SIZE(cpp));
}

TEST(names_of_go_lose_the_path_and_type_arguments)
{
	assert_all_short(go, ARRAY_SIZE(go));
}

TEST(names_of_java_lose_the_package_the_types_and_the_parameters)
{
	assert_all_short(java, ARRAY_SIZE(java));
}

TEST(names_of_python_keep_the_last_part_of_the_file)
{
	assert_all_short(python, ARRAY_SIZE(python));
}

TEST(other_names_stay_as_they_are)
{
	for (size_t i = 0; i < ARRAY_SIZE(unchanged); i++)
		assert_short(unchanged[i], unchanged[i]);
}

TEST(names_that_are_not_understood_stay_as_they_are)
{
	static const char *const odd[] = {
		"a::b<", "a::<b>>", "a::(b", "::", "a::b}::c", "<>", "<a as >::", ""};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		free(short_name(odd[i], GENERICS_SHORT));
	assert_short("a::b<", "a::b<");
	assert_short("a::(b", "a::(b");
	assert_short("a::b}::c", "a::b}::c");
}

TEST(a_trait_stays_where_the_type_alone_would_mean_something_else)
{
	assert_short("<A as core::slice::cmp::SliceOrd>::compare", "SliceOrd::compare");
	assert_short("<u8 as core::slice::cmp::SliceOrd>::compare", "<u8 as SliceOrd>::compare");
	assert_short("<shop::Cart as core::fmt::Debug>::fmt", "<Cart as Debug>::fmt");
	assert_short("<shop::Cart as core::clone::Clone>::clone", "shop::Cart::clone");
}

static void assert_plain(const char *full, const char *expected)
{
	CLEANUP(free_ptr) char *name = name_without_generics(full);

	assert_string_equal(name, expected);
}

TEST(the_instances_of_a_generic_function_have_one_name)
{
	assert_plain("std::vector<int, std::allocator<int> >::push_back(int const&)",
		     "std::vector::push_back");
	assert_plain("void geometry::sum<int>(int)", "geometry::sum");
	assert_plain("corpus::generic::<u8>", "corpus::generic");
	assert_plain("<alloc::vec::Vec<u8> as core::clone::Clone>::clone",
		     "<alloc::vec::Vec as core::clone::Clone>::clone");
	assert_plain("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place");
	assert_plain("malloc", "malloc");
	assert_plain("void java.lang.Object.<init>()", "void java.lang.Object.<init>()");
}

TEST(closures_are_recognized)
{
	assert_true(name_is_closure("corpus::main::{closure#0}"));
	assert_true(name_is_closure("corpus::main::{{closure}}"));
	assert_true(name_is_closure("main::{lambda(int)#1}::operator()(int) const"));
	assert_false(name_is_closure("corpus::main::{closure#0}::inner"));
	assert_false(name_is_closure("corpus::main"));
}
