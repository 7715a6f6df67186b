package fileaccess

import "sync"

// unfinished are the files and folders of the process that are being written.
var unfinished unfinishedList

type unfinishedList struct {
	ends sync.RWMutex // read-locked while one begins or ends
	mu   sync.Mutex
	list map[temporaryThing]bool // guarded by mu
}

// temporaryThing is a [NewFile] or [NewFolder].
type temporaryThing interface{ remove() }

func (u *unfinishedList) add(t temporaryThing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list == nil {
		u.list = map[temporaryThing]bool{}
	}
	u.list[t] = true
}

func (u *unfinishedList) drop(t temporaryThing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.list, t)
}

// RemoveUnfinished removes what is being written, for a program that ends at once. Nothing can be begun or ended any more: who tries waits for ever.
func RemoveUnfinished() {
	unfinished.ends.Lock() // behind those that are getting their name
	unfinished.mu.Lock()
	for t := range unfinished.list {
		t.remove()
	}
}
