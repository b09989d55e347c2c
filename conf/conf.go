// Package conf turns TOML files into one validated value, Config, and says when they change.
//
// The structs are the schema: their tags name the keys, defaults, ranges and choices, and drive
// decoding, the hints in errors and the test of gateway.example.toml alike.
package conf

import "time"

// Config is everything the gateway was told, with every default filled in.
type Config struct {
	// Listen holds the addresses to accept clients on. Default: https://:443 and http://:80.
	Listen []Listen `toml:"listen,listen" default:"https://:443 http://:80"`
	// Admin says where the gateway itself is spoken to.
	Admin Admin `toml:",inline"`
	// Storage is the folder for certificates, keys and other things kept over a restart.
	// Default: /var/lib/gateway.
	Storage string `toml:"storage,path" default:"/var/lib/gateway"`
	// Include lists further files, as names or patterns relative to the main file's folder; they
	// may hold sites and upstreams. Default: sites/*.toml, which may match nothing.
	Include []string `toml:"include" default:"sites/*.toml"`
	// ProxyProtocol lists those of Listen to which trusted proxies send a PROXY protocol header. Default: none.
	ProxyProtocol []Listen `toml:"proxy_protocol,listen"`
	// TrustedProxies are the proxies that are believed when they say who came to them. Default: none.
	TrustedProxies []Range `toml:"trusted_proxies,range"`
	// ForwardedHeader is where they say it: "X-Forwarded-For", with -Proto and -Port beside it, or "Forwarded"
	// (RFC 7239). Default: X-Forwarded-For.
	ForwardedHeader string `toml:"forwarded_header" default:"X-Forwarded-For" oneof:"X-Forwarded-For Forwarded"`
	// ForwardedHost tells to believe them about the host too, which many proxies let a client choose. Default: false.
	ForwardedHost bool `toml:"forwarded_host"`
	// HTTP3 tells to speak HTTP/3 too, on the UDP port of each https address of Listen. Default: false.
	HTTP3 bool `toml:"http3"`
	// H2C tells to let TrustedProxies speak HTTP/2 to the http addresses of Listen, with prior knowledge. Default: false.
	H2C bool `toml:"h2c"`
	// TLS says where certificates come from.
	TLS TLS `toml:"tls"`
	// Log says what is logged and where to.
	Log Log `toml:"log"`
	// Limits bound what one client may take, and where it says so what all may together.
	Limits Limits `toml:"limits"`
	// Sites holds every site: the main file's in order, then those of the included files.
	// There is at least one, and no host is named twice.
	Sites []Site `toml:"site"`
	// Upstreams holds every upstream by its name.
	Upstreams map[string]Upstream `toml:"upstream"`

	// Files is what the watcher must look at, all absolute: the main file, the included ones, those
	// of TLS, and the patterns of Include.
	Files []string
	// Digest stands for the names and content of the files read, to be given to the watcher.
	Digest string
}

// Admin is the admin endpoint.
type Admin struct {
	// Endpoint is a unix socket, or a TCP address that speaks HTTP and needs Token.
	// Default: unix:/run/gateway/admin.sock.
	Endpoint `toml:"admin,admin" default:"unix:/run/gateway/admin.sock"`
	// Token is asked from every caller when it is not empty. Default: none.
	Token string `toml:"admin_token,secret"`
}

// Log says what is logged and where to.
type Log struct {
	// Format is "json" or "console". Default: json.
	Format string `toml:"format" default:"json" oneof:"json console"`
	// Level is the least level written: "debug", "info", "warn" or "error". Default: info.
	Level string `toml:"level" default:"info" oneof:"debug info warn error"`
	// Access tells whether each request is logged in one line. Default: true.
	Access bool `toml:"access" default:"true"`
	// Output is "stdout", "stderr" or the path of a file to append to. Default: stdout.
	Output string `toml:"output,output" default:"stdout"`
}

// Limits bound what one client may take.
type Limits struct {
	// HeaderBytes limits a request's head, in bytes. Default: 64 KiB.
	HeaderBytes int64 `toml:"header_bytes,size" default:"64KiB" min:"4KiB" max:"16MiB"`
	// HeaderLines limits how many fields a head has. Default: 128.
	HeaderLines int `toml:"header_lines" default:"128" min:"16" max:"10000"`
	// URIBytes limits a request's target, in bytes. Default: 16 KiB.
	URIBytes int64 `toml:"uri_bytes,size" default:"16KiB" min:"256B" max:"16MiB"`
	// HeaderTimeout limits the time in which a head must have come. Default: 10 s.
	HeaderTimeout time.Duration `toml:"header_timeout,duration" default:"10s" min:"100ms" max:"1h"`
	// Body limits a request's body, in bytes. Default: 128 MiB.
	Body int64 `toml:"body,size" default:"128MiB" max:"16TiB"`
	// BodyTimeout limits the wait for each further piece of a body. Default: 60 s.
	BodyTimeout time.Duration `toml:"body_timeout,duration" default:"60s" min:"100ms" max:"24h"`
	// BodyMinRate is how many bytes of a body must come for each second that is waited for them, over BodyTimeout.
	// Zero means any. Default: 240.
	BodyMinRate int64 `toml:"body_min_rate,size" default:"240B" max:"1GiB"`
	// IdleTimeout closes a client's connection on which no request came. Default: 75 s.
	IdleTimeout time.Duration `toml:"idle_timeout,duration" default:"75s" min:"100ms" max:"24h"`
	// ResponseSpool limits what is kept of one response for a client slower than its backend,
	// in bytes; beyond it the backend has to wait. Default: 1 GiB.
	ResponseSpool int64 `toml:"response_spool,size" default:"1GiB" min:"64KiB" max:"16TiB"`
	// ResponseMinRate is how many bytes of a response a client must take for each second that is waited for it, over
	// a minute, in which it must take each piece anyway. Zero means any. Default: 240.
	ResponseMinRate int64 `toml:"response_min_rate,size" default:"240B" max:"1GiB"`
	// SpoolMemory limits what all request bodies and responses together keep in memory, in bytes; beyond it they go
	// to disk. Zero means all do. Default: 64 MiB.
	SpoolMemory int64 `toml:"spool_memory,size" default:"64MiB" max:"16TiB"`
	// SpoolDisk limits what all of them together keep on disk, in bytes; beyond it backends have to wait and bodies
	// are turned away. One has at most as much as is left for all others. Default: 10 GiB.
	SpoolDisk int64 `toml:"spool_disk,size" default:"10GiB" max:"16TiB"`
	// ConnectionsPerAddress limits the open connections of one address, not of a trusted proxy; an IPv6 address
	// stands for its /64. Default: 0, which is no limit.
	ConnectionsPerAddress int `toml:"connections_per_address" max:"1000000"`
	// InFlightPerAddress limits the requests of one client that are answered at once, over all its connections and
	// their streams, whose WebSockets count while they are open. Default: 0, which is no limit.
	InFlightPerAddress int `toml:"in_flight_per_address" max:"1000000"`
	// StreamsPerConnection limits the requests that a connection of HTTP/2 or HTTP/3 may have open. Default: 128.
	StreamsPerConnection int `toml:"streams_per_connection" default:"128" min:"1" max:"10000"`
	// Grace is how long requests may go on after the gateway was told to stop. Default: 30 s.
	Grace time.Duration `toml:"grace,duration" default:"30s" max:"24h"`
}
