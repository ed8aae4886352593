// Goroutines that measure their own CPU time: each go statement prints the function it starts, and its nanoseconds.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

var (
	mutex  sync.Mutex
	clocks = map[string]uint64{}
	group  sync.WaitGroup
)

// Returns the CPU time of this thread.
func cpu() uint64 {
	const clockThreadCPUTime = 3
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&time)), 0)
	return uint64(time.Nano())
}

// Uses CPU time in this goroutine, which keeps its thread while it does, and adds it to that of the go statement.
//
//go:noinline
func burn(name string, us uint64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin, value := cpu(), uint64(1)
	for cpu()-begin < us*1000 {
		for i := 0; i < 2000; i++ {
			value = value*6364136223846793005 + 1442695040888963407
		}
	}
	used := cpu() - begin
	mutex.Lock()
	clocks[name] += used + value&1
	mutex.Unlock()
}

type shop struct{}

func (*shop) cart() {
	defer group.Done()
	for i := 0; i < 60; i++ {
		burn("main.(*shop).cart", 1900)
		runtime.Gosched()
	}
}

func worker(us uint64) {
	defer group.Done()
	for i := 0; i < 60; i++ {
		burn("main.worker", us)
		runtime.Gosched()
	}
}

func main() {
	runtime.GOMAXPROCS(2)
	group.Add(6)
	for i := 0; i < 3; i++ {
		go new(shop).cart()
	}
	go worker(3100)
	go worker(700)
	go func() {
		defer group.Done()
		burn("main.main.func1", 300000)
	}()
	burn("main.main", 150000)
	group.Wait()
	for name, ns := range clocks {
		fmt.Println(ns, name)
	}
}
