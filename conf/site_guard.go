package conf

import "time"

// HSTS tells browsers to come by https only (RFC 6797).
type HSTS struct {
	// MaxAge is how long browsers remember. Default: 0, which sends no header.
	MaxAge time.Duration `toml:"max_age,duration" default:"0s" max:"3650d"`
	// Subdomains tells them that names below the site's are meant too. Default: false.
	Subdomains bool `toml:"subdomains"`
	// Preload allows browsers' makers to know it beforehand. Default: false.
	Preload bool `toml:"preload"`
}

// Access says who may come at all, by address.
type Access struct {
	// Allow are those who may; none means everyone. Default: none.
	Allow []Range `toml:"allow,range"`
	// Deny are those who may not, also where Allow has them. Default: none.
	Deny []Range `toml:"deny,range"`
}

// Auth asks for a name and a password (RFC 7617).
type Auth struct {
	// Realm is what browsers show. Default: Restricted.
	Realm string `toml:"realm,words" default:"Restricted"`
	// Users are those who may come, in the order of their names. Default: none, so that nobody is asked.
	Users []User `toml:"users"`
}

// User is a name and the bcrypt hash of a password.
type User struct{ Name, Hash string }

// ForwardAuth asks somebody else whether a request may pass.
type ForwardAuth struct {
	// URL is asked with GET and the request's headers; an answer of 2xx lets it pass, any other goes to the client.
	// Default: empty, so that nobody is asked.
	URL string `toml:"url,url"`
	// Copy are headers of that answer which the request is given; the client's own of these names never pass.
	// Default: none.
	Copy []string `toml:"copy,header"`
	// Timeout limits the wait for the answer. Default: 5 s.
	Timeout time.Duration `toml:"timeout,duration" default:"5s" min:"1ms" max:"10m"`
}

// Rate limits how often the application is asked. Files do not count.
type Rate struct {
	// Rate is the frequency that is allowed in the long run.
	Rate Frequency `toml:"rate,rate" required:"true"`
	// Key is what the rate is counted for. Default: client.
	Key RateKey `toml:"key,rate_key" default:"client"`
	// Burst is how many requests may come at once. Default: as many as Rate allows in its unit of time.
	Burst int `toml:"burst" min:"1" max:"1000000"`
	// Delay is how long a request beyond the burst may be held back, until the rate allows it. Default: 0, which
	// refuses it at once.
	Delay time.Duration `toml:"delay,duration" default:"0s" max:"1m"`
}

// Frequency is so many requests in a time.
type Frequency struct {
	Count int
	Per   time.Duration
}

// RateKey is what a rate is counted for.
type RateKey struct {
	// From is "client" (its address, an IPv6 one with its /64), "site" or "header".
	From string
	// Name is that of the header in canonical form, else empty.
	Name string
}

// Maintenance says what is answered while the application is down.
type Maintenance struct {
	// Enabled takes the application down. Default: false.
	Enabled bool `toml:"enabled"`
	// RetryAfter is sent to clients when it is not 0. Default: 0.
	RetryAfter time.Duration `toml:"retry_after,duration" default:"0s" max:"365d"`
	// Page is a file of HTML to answer with, absolute. Default: a page of the gateway's own.
	Page string `toml:"page,path"`
	// Secret is a path that gives whoever opens it a cookie to pass with. Default: none.
	Secret string `toml:"secret,secret"`
	// Allow are those who pass, by address. Default: none.
	Allow []Range `toml:"allow,range"`
	// Artisan tells to look for the file that "artisan down" writes, and to answer as Laravel does. Default: true.
	Artisan bool `toml:"artisan" default:"true"`
	// ArtisanFile is that file, absolute or counted from the root. Default: ../storage/framework/down.
	ArtisanFile string `toml:"artisan_file,words" default:"../storage/framework/down"`
}
