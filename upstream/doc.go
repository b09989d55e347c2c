// Package upstream carries requests to a group of backends: it spools the body, admits or queues, chooses a
// backend, sends, retries where that is safe, and stays away from backends that fail.
//
// A Group knows nothing of the protocol. It is given one http.RoundTripper per backend and asks the errors
// about their behaviour:
//
//	SafeToRetry() bool          nothing of the request can have reached the application
//	Busy() bool                 the backend is there but takes no more
//	Timeout() bool              a deadline passed
//	Released() <-chan struct{}  closed once the backend has stopped working on the request
//
// Released is asked of response bodies too. What else a Group must know, it learns from the httptrace hooks:
// whether a connection was got, whether it had been used before, and whether a byte of an answer came.
//
// HTTP is the transport for backends that speak HTTP/1.1.
package upstream
