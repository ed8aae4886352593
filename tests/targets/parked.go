// Waiting threads of Go's runtime: parked, in the network poller, in system calls. Prints "asleep", and ends when its
// input ends.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

func work(group *sync.WaitGroup) {
	for i := 0; i < 20000; i++ {
		runtime.Gosched()
	}
	group.Done()
}

func wait(kind int, held *sync.Mutex) {
	switch kind % 5 {
	case 0:
		time.Sleep(time.Hour)
	case 1:
		held.Lock()
	case 2:
		listener, _ := net.Listen("tcp", "127.0.0.1:0")
		listener.Accept()
	case 3:
		var silent [2]int
		syscall.Pipe(silent[:])
		syscall.Read(silent[0], make([]byte, 10))
	case 4:
		long := syscall.Timespec{Sec: 10000}
		syscall.Nanosleep(&long, nil)
	}
}

func main() {
	var held sync.Mutex
	var group sync.WaitGroup

	held.Lock()
	for i := 0; i < 50; i++ {
		go wait(i, &held)
	}
	group.Add(8)
	for i := 0; i < 8; i++ {
		go work(&group)
	}
	group.Wait()
	fmt.Println("asleep")
	os.Stdin.Read(make([]byte, 1))
}
