// Goroutines, whose stacks do not belong to threads.
//
//	runtime.goexit
//	  main.work              in two goroutines; main.main waits
//	    main.half   50 %
//	    main.third  30 %
//	    main.fifth  20 %
package main

import (
	"math/rand"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var sink uint64

func spin() {
	value := uint64(1)
	for i := 0; i < 10000; i++ {
		value = value*6364136223846793005 + 1442695040888963407
	}
	sink ^= value
}

//go:noinline
func half() { spin() }

//go:noinline
func third() { spin() }

//go:noinline
func fifth() { spin() }

// CPU time of all threads, because on a busy machine they may get little of it per wall-clock second.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

//go:noinline
func work(end time.Duration, seed int64) {
	parts := []func(){half, half, half, half, half, third, third, third, fifth, fifth}
	random := rand.New(rand.NewSource(seed))
	for cpuTime() < end {
		// So that the parts are independent of the sampling interval.
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for _, part := range parts {
			part()
		}
	}
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	end := cpuTime() + time.Duration(seconds*1e9)
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func(seed int64) {
			defer group.Done()
			work(end, seed)
		}(int64(i))
	}
	group.Wait()
}
