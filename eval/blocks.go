package eval

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// blockSize is how many cases a goroutine takes at a time. It does not depend
// on the machine: what is computed for a block is the same everywhere.
const blockSize = 1024

// blocks returns how many blocks n items make.
func blocks(n int) int { return (n + blockSize - 1) / blockSize }

// eachBlock calls f for each block of n items, from several goroutines.
func eachBlock(n int, f func(block, from, to int)) {
	parallel(blocks(n), func(block int) {
		f(block, block*blockSize, min(n, (block+1)*blockSize))
	})
}

// parallel calls f for 0 to n-1 from as many goroutines as there are
// processors.
func parallel(n int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}
