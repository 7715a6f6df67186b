package residency

import (
	"time"

	"github.com/radish-sql/radish/exec/workqueue"
)

// mostInvesting is how many tables may wait to be uploaded.
const mostInvesting = 1024

// investor uploads columns that nobody waits for.
type investor struct {
	queue *workqueue.Queue
	stop  chan struct{} // closed with the device
}

func newInvestor() investor {
	return investor{queue: workqueue.New(1, mostInvesting), stop: make(chan struct{})}
}

func (x *investor) close() {
	close(x.stop)
	x.queue.Close()
}

// wait waits, or until the device is closed.
func (x *investor) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-x.stop:
	}
}

func (x *investor) isClosed() bool {
	select {
	case <-x.stop:
		return true
	default:
		return false
	}
}
