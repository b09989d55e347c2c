package conf

import "time"

// Site is an application: its hosts, its public folder and the upstream that runs it.
type Site struct {
	// Hosts are names in lower case without a port: "shop.example", "*.shop.example" for every
	// name one label below, "*" for what no other site names. At least one. Addresses are
	// in canonical form, IPv6 without brackets.
	Hosts []string `toml:"hosts,host" required:"true"`
	// Root is the public folder, absolute. It may lead through symlinks and need not exist yet.
	Root string `toml:"root,path" required:"true"`
	// Index is the front controller within Root. Default: index.php.
	Index string `toml:"index,file" default:"index.php"`
	// App is the name of the upstream that gets what no split takes.
	App string `toml:"app,upstream" required:"true"`
	// ServerName is what scripts see as SERVER_NAME. Default: the first host that is no
	// wildcard; empty when there is none, which stands for the host the client asked for.
	ServerName string `toml:"server_name,name"`
	// SymlinkTargets are further folders that symlinks in Root may lead to, absolute, besides the
	// release itself and what storage in Root points at. Default: none.
	SymlinkTargets []string `toml:"symlink_targets,path"`
	// Params are given to every script, in the order of their names, and win over all others. Default: none.
	Params []Param `toml:"params"`
	// Headers are given to every file, and to every response of the application that has none of that name,
	// in the order of their names. Default: X-Content-Type-Options nosniff and X-Frame-Options SAMEORIGIN, as Laravel's page for
	// Nginx has it; an empty value in the file takes one out.
	Headers []Header `toml:"headers"`
	// Limits take the place of the general ones.
	Limits SiteLimits `toml:"limits"`
	// HSTS tells browsers to come by https only.
	HSTS HSTS `toml:"hsts"`
	// Access says who may come at all.
	Access Access `toml:"access"`
	// Auth asks for a name and a password. Without Users it does not.
	Auth Auth `toml:"auth"`
	// ForwardAuth asks somebody else whether a request may pass. Without a URL it does not.
	ForwardAuth ForwardAuth `toml:"forward_auth"`
	// Rates limit how often the application is asked. All of them hold. Default: none.
	Rates []Rate `toml:"rate"`
	// Maintenance says who is answered while the application is down.
	Maintenance Maintenance `toml:"maintenance"`
	// ClientCertificates asks clients for a certificate of theirs.
	ClientCertificates ClientCertificates `toml:"client_certificates"`
	// Split shares users among upstreams.
	Split Split `toml:"split"`
}

// ClientCertificates asks the clients of a site for a certificate of theirs, during the TLS handshake.
type ClientCertificates struct {
	// CA is a PEM file with the authorities whose certificates are good. Default: none, and nothing is asked.
	CA string `toml:"ca,path"`
	// Mode is "require", or "verify": a client may have none, but one that it shows has to be good. Default: require.
	Mode string `toml:"mode" default:"require" oneof:"require verify"`
}

// Param is one FastCGI parameter.
type Param struct{ Name, Value string }

// Header is one response header.
type Header struct{ Name, Value string }

// SiteLimits are the limits a site may have for itself.
type SiteLimits struct {
	// Body limits a request's body, in bytes. Default: that of Limits.
	Body int64 `toml:"body,size" max:"16TiB"`
	// BodyTimeout limits the wait for each further piece of a body. Default: that of Limits.
	BodyTimeout time.Duration `toml:"body_timeout,duration" min:"100ms" max:"24h"`
}

// Split shares the users of a site among upstreams. Without Weights there is none.
type Split struct {
	// Weights are the shares, in the order of their names, two at most. What they leave goes to the site's App.
	Weights []Weight `toml:"*"`
	// Cookie is the name of the cookie that keeps a user on a variant. Default: gateway_split.
	Cookie string `toml:"cookie,token" default:"gateway_split"`
	// CookieMaxAge is how long that cookie is kept. Default: 30 days.
	CookieMaxAge time.Duration `toml:"cookie_max_age,duration" default:"30d" min:"1s" max:"400d"`
	// OverrideHeader is the request header that names a variant. Default: X-Gateway-Variant.
	OverrideHeader string `toml:"override_header,token" default:"X-Gateway-Variant"`
	// OverrideCookie is the cookie that names a variant. Default: gateway_variant.
	OverrideCookie string `toml:"override_cookie,token" default:"gateway_variant"`
	// Secret signs the cookie. Default: empty, which stands for one made and kept in Storage.
	Secret string `toml:"secret,secret"`
}

// Weight is the share of users that goes to an upstream.
type Weight struct {
	// Upstream is its name.
	Upstream string
	// Share is counted in hundredths of a percent: 500 is 5 %, 10000 is everyone, 0 nobody new.
	Share int
}
