package http1

import (
	"bytes"
	"time"
)

// emptyLines is how many empty lines may stand before a request line. Old clients end a body with one that they do not
// count (RFC 9112, 2.2).
const emptyLines = 4

// scan finds the lines of a head while it comes in.
type scan struct {
	start int   // of the request line, behind empty lines
	next  int   // where the line begins whose end has not been seen
	ends  []int // of each line, without its CRLF; counted from start
	blank int
}

func (s *scan) reset() { *s = scan{ends: s.ends[:0]} }

// find goes on in b, which begins where it began the last time and may have become longer, and says whether the head is
// whole. It then ends at next.
func (s *scan) find(b []byte, maxLines int) (whole bool, err *Error) {
	for {
		if s.next == s.start && s.next < len(b) && !isToken[b[s.next]] && b[s.next] != '\r' && b[s.next] != '\n' {
			return false, errRequestLine // such as a TLS handshake, of which no line may ever end
		}
		i := bytes.IndexByte(b[s.next:], '\n')
		if i < 0 {
			return false, nil
		}
		begin, end := s.next, s.next+i-1
		if i == 0 || b[end] != '\r' {
			return false, errBareLF
		}
		s.next = end + 2
		switch {
		case end > begin:
			if len(s.ends) > maxLines {
				return false, errTooManyLine
			}
			s.ends = append(s.ends, end-s.start)
		case len(s.ends) > 0:
			return true, nil
		case s.blank == emptyLines:
			return false, errRequestLine
		default:
			s.blank++
			s.start = s.next
		}
	}
}

// head reads the head of the next request and returns it as a string, from the request line to the last field, with the
// ends of its lines. The first bytes of it have come.
func (c *conn) head(limits *Limits) (string, error) {
	c.scan.reset()
	for late := false; ; {
		whole, err := c.scan.find(c.in.waiting(), limits.HeaderLines)
		switch {
		case err != nil:
			return "", err
		case whole && c.scan.next > limits.HeaderBytes:
			return "", errHeadTooLong
		case whole:
			head := string(c.in.waiting()[c.scan.start:c.scan.next])
			c.in.take(c.scan.next)
			return head, nil
		case len(c.in.waiting()) >= limits.HeaderBytes:
			return "", errHeadTooLong
		}
		if !late && !c.first {
			late = true
			c.deadline.set(time.Now().Add(limits.HeaderTimeout))
		}
		if err := c.in.more(limits.HeaderBytes); err != nil {
			return "", err
		}
	}
}

var isToken = table("!#$%&'*+-.^_`|~" + digits + letters)

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func table(of string) (t [256]bool) {
	for i := range len(of) {
		t[of[i]] = true
	}
	return t
}
