package fcgitest

// Step is one thing that a responder does. A script without ReadParams and ReadStdin begins with both.
type Step struct {
	do func(*exchange) error
}

type exchange struct{}

// Param is one pair of the request's params.
type Param struct{ Name, Value string }

// Request is what a responder was sent.
type Request struct {
	Conn     int // which connection, counted from 0
	ID, Role uint16
	KeepConn bool
	Params   []Param // in the order of the wire
	Stdin    []byte  // as far as the script has read it
}

// Param returns the value of the last param called name, or "".
func (r Request) Param(name string) string { return "" }

// Stdout sends s as STDOUT records.
func Stdout(s string) Step { return Step{} }

// Stderr sends s as STDERR records.
func Stderr(s string) Step { return Step{} }

// End sends END_REQUEST.
func End(appStatus uint32, protocolStatus byte) Step { return Step{} }

// Reply sends a whole answer: Status, Content-Type text/plain, body, END_REQUEST.
func Reply(status int, body string) Step { return Step{} }

// Echo sends what answer makes of the request as STDOUT: header, blank line and body.
func Echo(answer func(Request) string) Step { return Step{} }

// Record is a record of any shape.
type Record struct {
	Version, Type byte // a zero Version means 1
	ID            uint16
	Content       []byte
	Padding       byte
}

// Send sends records as they are.
func Send(records ...Record) Step { return Step{} }

// Raw sends bytes that need not be records.
func Raw(b []byte) Step { return Step{} }

// Cut closes the connection.
func Cut() Step { return Step{} }

// Reset closes a TCP connection with RST; a unix one is cut.
func Reset() Step { return Step{} }

// Hang waits until the channel is closed, or the responder is.
func Hang(until <-chan struct{}) Step { return Step{} }

// Call runs f.
func Call(f func()) Step { return Step{} }

// AwaitClose reads until the other side has closed the connection.
func AwaitClose() Step { return Step{} }

// ReadParams reads BEGIN_REQUEST and all params.
func ReadParams() Step { return Step{} }

// ReadStdin reads STDIN to its end.
func ReadStdin() Step { return Step{} }

// ReadStdinBytes reads STDIN until it has n bytes or more.
func ReadStdinBytes(n int) Step { return Step{} }
