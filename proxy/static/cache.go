package static

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// cachedFile is up to what size a file is kept in memory, and cacheBytes how much of them all. Opening,
	// reading and closing a file of 1 KiB costs three times what it costs to ask whether it has changed.
	cachedFile = 8 << 10
	cacheBytes = 4 << 20
	// settled is how old a change must be before a file is kept. Two changes within one tick of the clock
	// leave the same time, so a file that was just written may yet change and not show it.
	settled = time.Second
)

// A cache keeps small files of one release. What it has is compared with the file system at each use, by
// everything that tells one state of a file from another.
type cache struct {
	mu    sync.RWMutex
	files map[string]cached // guarded by mu
	bytes int               // guarded by mu; in files
}

type cached struct {
	state
	data []byte
}

// A state tells whether a file is what it was.
type state struct {
	dev, inode   uint64
	size         int64
	mtime, ctime unix.Timespec
}

func stateOf(st *unix.Stat_t) state {
	return state{dev: uint64(st.Dev), inode: uint64(st.Ino), size: st.Size, mtime: st.Mtim, ctime: st.Ctim}
}

// find returns the file that name is below the directory dir, if it was put and has not changed. That it is
// still reached without a link need not be asked: it is the same file.
func (c *cache) find(dir int, name string) (cached, bool) {
	c.mu.RLock()
	found, ok := c.files[name]
	c.mu.RUnlock()
	if !ok {
		return cached{}, false
	}
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return found, err == nil && stateOf(&st) == found.state
}

// put keeps a copy of data. When there is no more room everything else goes: the files in use are back soon.
func (c *cache) put(name string, of state, data []byte, now time.Time) {
	if len(data) == 0 || len(data) > cachedFile || now.Sub(time.Unix(of.ctime.Unix())) < settled {
		return
	}
	kept := cached{of, append([]byte(nil), data...)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(data) - len(c.files[name].data)
	if c.files == nil || c.bytes > cacheBytes {
		c.files, c.bytes = map[string]cached{}, len(data)
	}
	c.files[name] = kept
}
