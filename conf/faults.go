package conf

import (
	"cmp"
	"fmt"
	"slices"
)

// faults gathers what is wrong with a set of files.
type faults struct{ list []*Error }

func (f *faults) add(src *source, at int, path, format string, args ...any) {
	line, col := src.place(at)
	f.list = append(f.list, &Error{File: src.name, Line: line, Col: col, Key: path, Msg: fmt.Sprintf(format, args...)})
}

// sorted returns the faults in the order in which the files were read, and of their lines.
func (f *faults) sorted(files []string) []*Error {
	slices.SortStableFunc(f.list, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(slices.Index(files, a.File), slices.Index(files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return f.list
}
