package conf

import (
	"bytes"
	"unicode/utf8"
)

// source is one file that was read.
type source struct {
	// name is how errors name it, dir the absolute folder that its relative paths start from.
	name, dir string
	data      []byte
}

// place turns an offset into a line and a column, both from one. Columns count characters.
func (s *source) place(offset int) (line, col int) {
	before := s.data[:min(max(offset, 0), len(s.data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// offset is the opposite of place for a column that counts bytes, as the parser gives it.
func (s *source) offset(line, col int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(s.data[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return at + col - 1
}

// skipSpace returns the offset of the first byte at or after i that is not blank.
func (s *source) skipSpace(i int) int {
	for i < len(s.data) && (s.data[i] == ' ' || s.data[i] == '\t') {
		i++
	}
	return i
}

// skipBetween returns the offset of the first byte at or after i that is neither blank nor a line end,
// a comma or part of a comment: that is what stands between the elements of a list.
func (s *source) skipBetween(i int) int {
	for i < len(s.data) {
		switch s.data[i] {
		case ' ', '\t', '\r', '\n', ',':
			i++
		case '#':
			end := bytes.IndexByte(s.data[i:], '\n')
			if end < 0 {
				return len(s.data)
			}
			i += end
		default:
			return i
		}
	}
	return i
}
