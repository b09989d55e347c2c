package http1

import "fmt"

// refusal is the whole answer to a head that is at fault. HTTP/1.1 is what any client understands, and the reason tells
// whoever looks at it what to mend.
func refusal(fault *Error) []byte {
	text := fault.Reason + "\n"
	return fmt.Appendf(nil, "HTTP/1.1 %sDate: %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", statusLines[fault.Status], date(), len(text), text)
}
