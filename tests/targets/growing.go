// Goroutines whose stacks grow, and are moved, deep in a recursion, while the garbage collector is busy.
//
//	runtime.goexit
//	  main.main.gowrap1  with some compilers
//	  main.main.func1
//	    main.down × 500
//	      main.bottom  ~100 %
package main

import (
	"os"
	"strconv"
	"sync"
)

var sink [4]uint64
var garbage [4][]byte

//go:noinline
func bottom(number int) {
	value := uint64(1)
	for i := 0; i < 2000000; i++ {
		value = value*6364136223846793005 + 1442695040888963407
	}
	sink[number] ^= value
}

//go:noinline
func down(depth, number int) int {
	if depth > 1 {
		return down(depth-1, number) + 1
	}
	garbage[number] = make([]byte, 1<<16)
	bottom(number)
	return 1
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	for round := 0; round < int(seconds*150); round++ { // a round takes about 6 ms of CPU time
		var group sync.WaitGroup
		for i := 0; i < 4; i++ {
			group.Add(1)
			go func(number int) { // a new goroutine, whose stack is small again
				defer group.Done()
				down(500, number)
			}(i)
		}
		group.Wait()
	}
}
