package observe

import "context"

type exchangeKey struct{}

// Tunnel says that the exchange of ctx goes on after its handler has returned: on a connection that was taken over.
// Its line is written when end is called, which then waits for that return; in and out are the bytes from the client
// and to it. Tunnels are many and live long, so nothing of what net/http holds for a request is kept for them.
func Tunnel(ctx context.Context) (end func(in, out int64)) {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return func(_, _ int64) {}
	}
	x.left = make(chan struct{})
	return func(in, out int64) {
		<-x.left
		if x.returned {
			x.tunnelIn, x.tunnelOut = in, out
			x.observer.end(x)
		}
	}
}

// leave is the end of the handler, and of the exchange unless there is a tunnel.
func (o *Observer) leave(x *exchange) {
	if x.left == nil || !x.returned {
		o.end(x)
	}
	if x.left != nil {
		x.writer.ResponseWriter = nil
		close(x.left)
	}
}
