// Goroutines that produce garbage. Much of the runtime's work for them is done on another stack
// (runtime.systemstack), and by the runtime's own goroutines.
//
//	runtime.goexit
//	  main.main.func1
//	    main.litter  nearly all, including the work of the runtime
package main

import (
	"os"
	"strconv"
	"sync"
)

type leaf struct {
	left, right *leaf
	value       [4]uint64
}

var roots [2]*leaf

//go:noinline
func litter(depth int) *leaf {
	if depth == 0 {
		return &leaf{}
	}
	return &leaf{left: litter(depth - 1), right: litter(depth - 1)}
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	var group sync.WaitGroup
	for i := range roots {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			for round := 0; round < int(seconds*100); round++ {
				roots[number] = litter(16)
			}
		}(i)
	}
	group.Wait()
}
