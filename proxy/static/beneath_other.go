//go:build unix && !linux

package static

// openPath opens a directory for no more than finding names in it, where the system can say so.
const openPath = 0

func beneath() func(dir int, name string, flags int) (int, error) { return walk }
