package conf

// Endpoint is an address to dial or to listen on.
type Endpoint struct {
	// Network is "unix" or "tcp".
	Network string
	// Address is the absolute path of a unix socket, else host:port.
	Address string
}

// String returns "unix:/path" or "host:port".
func (e Endpoint) String() string {
	if e.Network == "unix" {
		return "unix:" + e.Address
	}
	return e.Address
}

// Listen is an address to accept clients on.
type Listen struct {
	// Scheme is "http" or "https".
	Scheme string
	// Addr is host:port as net.Listen takes it; an empty host stands for all addresses.
	Addr string
}

// String returns the address as it is written in a file: "https://:443".
func (l Listen) String() string { return l.Scheme + "://" + l.Addr }

// HashKey is the part of a request that Policy "hash" looks at.
type HashKey struct {
	// From is "client" (its address), "uri", "header" or "cookie".
	From string
	// Name is that of the header or cookie, else empty.
	Name string
}
