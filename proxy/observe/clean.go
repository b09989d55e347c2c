package observe

import "strconv"

// maxText bounds one value in a line, in bytes. A head may be far larger, and a log is kept for years.
const maxText = 4096

// clean returns s in a form that cannot end a line, move a cursor, change a reading direction or break an
// encoding, whatever format the log has. Printable text is returned as it is; in anything else, bytes and
// runes that do not print become Go escapes.
func clean(s string) string {
	cut := len(s) > maxText
	if cut {
		s = s[:maxText]
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f {
			s = escape(s)
			break
		}
	}
	if cut {
		s += "..."
	}
	return s
}

func escape(s string) string {
	for _, r := range s {
		if r == '\uFFFD' || !strconv.IsPrint(r) {
			quoted := strconv.Quote(s)
			return quoted[1 : len(quoted)-1]
		}
	}
	return s
}
