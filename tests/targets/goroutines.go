// Goroutines, whose stacks are not those of threads.
//
//	runtime.goexit
//	  main.work              in two goroutines; main.main waits
//	    main.half   50 %
//	    main.third  30 %
//	    main.fifth  20 %
package main

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var sink uint64

func spin(rounds int) {
	value := uint64(1)
	for i := 0; i < rounds*10000; i++ {
		value = value*6364136223846793005 + 1442695040888963407
	}
	sink ^= value
}

//go:noinline
func half() { spin(5) }

//go:noinline
func third() { spin(3) }

//go:noinline
func fifth() { spin(2) }

// Of all threads: what they have on a busy machine in a second of the clock may be little.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

//go:noinline
func work(end time.Duration) {
	for cpuTime() < end {
		half()
		third()
		fifth()
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
		go func() {
			defer group.Done()
			work(end)
		}()
	}
	group.Wait()
}
