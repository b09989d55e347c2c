package conf

import "time"

// Upstream is a named group of backends. Exactly one of FastCGI and HTTP is not empty.
type Upstream struct {
	// Name is the key in Config.Upstreams.
	Name string
	// FastCGI are the backends that speak FastCGI.
	FastCGI []Endpoint `toml:"fastcgi,fastcgi"`
	// HTTP are the backends that speak HTTP/1.1.
	HTTP []Endpoint `toml:"http,http"`
	// Policy chooses a backend: "round_robin", "least_in_flight", "power_of_two" or "hash".
	// Default: least_in_flight.
	Policy string `toml:"policy" default:"least_in_flight" oneof:"round_robin least_in_flight power_of_two hash"`
	// HashKey is what Policy "hash" looks at. Default: client.
	HashKey HashKey `toml:"hash_key,hash_key" default:"client"`
	// MaxInFlight is how many requests a backend is given at once; 0 is no limit.
	// Default: 5 for FastCGI, which is PHP-FPM's own pm.max_children; 0 for HTTP.
	MaxInFlight int `toml:"max_in_flight" default:"5" http:"0" max:"1000000"`
	// Queue is how many requests may wait for a backend of the group.
	// Default: 10 for every request the group may have in flight; 0 when that has no limit.
	Queue int `toml:"queue" max:"10000000"`
	// QueueWait is how long a request may wait. Default: 10 s.
	QueueWait time.Duration `toml:"queue_wait,duration" default:"10s" min:"1ms" max:"1h"`
	// TunnelIdle ends an upgraded connection (WebSocket) on which nothing passed, for HTTP. Default: 10 min.
	TunnelIdle time.Duration `toml:"tunnel_idle,duration" default:"10m" min:"1s" max:"30d"`
	// Timeouts bound the phases of one attempt.
	Timeouts Timeouts `toml:"timeouts"`
	// Keepalive says which connections are kept between requests.
	Keepalive Keepalive `toml:"keepalive"`
	// Health says when a failing backend is left alone.
	Health Health `toml:"health"`
}

// Timeouts bound the phases of one attempt.
type Timeouts struct {
	// Dial limits connecting. Default: 3 s.
	Dial time.Duration `toml:"dial,duration" default:"3s" min:"1ms" max:"1h"`
	// FirstByte limits the wait from the whole request sent to the first byte of the response. Default: 60 s.
	FirstByte time.Duration `toml:"first_byte,duration" default:"60s" min:"1ms" max:"24h"`
	// BetweenBytes limits the wait for each further piece of the response. Default: 60 s.
	BetweenBytes time.Duration `toml:"between_bytes,duration" default:"60s" min:"1ms" max:"24h"`
	// Write limits the wait until the backend takes a further piece of the request. Default: 60 s.
	Write time.Duration `toml:"write,duration" default:"60s" min:"1ms" max:"24h"`
}

// Keepalive says which connections are kept between requests.
type Keepalive struct {
	// MaxIdle is how many idle connections are kept to each backend; with 0 none is.
	// Default: 0 for FastCGI, where a kept connection occupies a PHP worker; 64 for HTTP.
	MaxIdle int `toml:"max_idle" default:"0" http:"64" max:"1000000"`
	// Idle closes a connection unused for so long; it should be less than the backend's own. Default: 30 s.
	Idle time.Duration `toml:"idle,duration" default:"30s" min:"1ms" max:"24h"`
}

// Health says when a failing backend is left alone. The last one never is.
type Health struct {
	// Fails is how many failures within Window eject a backend. Default: 3.
	Fails int `toml:"fails" default:"3" min:"1" max:"1000000"`
	// Window is the time in which failures are counted. Default: 10 s.
	Window time.Duration `toml:"window,duration" default:"10s" min:"100ms" max:"24h"`
	// Eject is how long a backend is left alone. Default: 10 s.
	Eject time.Duration `toml:"eject,duration" default:"10s" min:"100ms" max:"24h"`
}
