package proxy

import (
	"net/http"
	"runtime/debug"

	"go.uber.org/zap"

	"gateway/proxy/observe"
)

// layer is one step of the chain: it may answer itself, or change what next is given.
type layer func(next http.Handler) http.Handler

// outermostFirst stacks layers in the order in which a request meets them.
func outermostFirst(last http.Handler, layers ...layer) http.Handler {
	for i := len(layers) - 1; i >= 0; i-- {
		last = layers[i](last)
	}
	return last
}

// guard keeps a fault of ours from taking the process down. net/http's own way to break a connection off
// passes through.
func guard(log *zap.Logger) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				fault := recover()
				if fault == nil {
					return
				}
				if fault != http.ErrAbortHandler {
					log.Error("panic while serving", zap.Any("panic", fault), zap.ByteString("stack", debug.Stack()),
						zap.String("request_id", observe.FromContext(r.Context()).ID))
				}
				panic(http.ErrAbortHandler)
			}()
			next.ServeHTTP(w, r)
		})
	}
}
