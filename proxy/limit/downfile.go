package limit

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mostDown is more than a page that is rendered into the file has.
	mostDown = 4 << 20
	// settled is how old a change must be before the file is not read again: two changes within one tick of the
	// clock leave the same time.
	settled = time.Second
)

// DownFile is the file that "artisan down" writes and "artisan up" removes. The zero DownFile is ready; it may be used
// concurrently.
type DownFile struct {
	known atomic.Pointer[downState]
	now   func() time.Time // nil means time.Now
}

// downState is the file as it was read last.
type downState struct {
	path         string
	dev, inode   uint64
	size         int64
	mtime, ctime unix.Timespec
	down         *Down
}

func (s *downState) is(path string, st *unix.Stat_t) bool {
	return s != nil && s.path == path && s.dev == uint64(st.Dev) && s.inode == uint64(st.Ino) && s.size == st.Size &&
		s.mtime == st.Mtim && s.ctime == st.Ctim
}

// Read returns what the file at path says, or nil when the application is not down, or when that cannot be seen, so
// that the application has to say it itself. It costs one stat when nothing has changed.
func (f *DownFile) Read(path string) *Down {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > mostDown {
		return nil
	}
	if known := f.known.Load(); known.is(path, &st) {
		return known.down
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostDown))
	if err != nil {
		return nil
	}
	down := ParseDown(data)
	if f.age(&st) > settled {
		f.known.Store(&downState{path, uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim, st.Ctim, down})
	}
	return down
}

// age is how long ago the file has changed.
func (f *DownFile) age(st *unix.Stat_t) time.Duration {
	now := time.Now
	if f.now != nil {
		now = f.now
	}
	return now().Sub(time.Unix(st.Ctim.Unix()))
}
