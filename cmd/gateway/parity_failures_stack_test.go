//go:build stack

package main_test

// failureCases are exceptions, and workers that end in the middle of a request. They come last, since a resident
// worker takes a while to be replaced; a script that kills FrankenPHP's process takes all of FrankenPHP with it.
var failureCases = []parityCase{
	get("/boom"),
	get("/boom", "Accept: application/json"),
	get("/boom/debug"),
	get("/api/boom"),
	get("/api/boom/debug", "Accept: application/json"),
	get("/api/fatal/stderr"),
	get("/api/fatal/headers"),
	get("/api/fatal/none"),
	get("/download/sendfile"),
	get("/download/accel"),
	get("/api/fatal/exit").only("fpm resident"),
	get("/api/fatal/memory").only("fpm resident"),
	get("/api/fatal/time").only("fpm resident"),
	get("/api/fatal/kill").only("fpm resident"),
	get("/api/fatal/halfway").only("fpm resident"),
}
