package stack

import "path/filepath"

// NginxConfig says what nginx stands in front of. An empty address leaves its pages out.
type NginxConfig struct {
	FPM    string // unix:PATH or host:port, of Laravel's page
	Octane string // host:port, of Octane's page
	// Keep is how many connections to FPM each worker of nginx keeps for the kept page; zero leaves that page
	// out. A child of FPM serves one connection only, so Keep times Workers must be below the number of children.
	Keep      int
	Workers   int // worker_processes; zero means 1
	HeaderKiB int // response header taken from a backend, in KiB; zero means nginx's own 4
}

// NginxServer is a running nginx. A URL is empty where the page was left out.
type NginxServer struct {
	*service
	LaravelURL     string // Laravel's page as documented: a FastCGI connection a request
	LaravelKeptURL string // the same with FastCGI connections kept
	OctaneURL      string // Octane's page as documented
}

// page is one server block.
type page struct {
	Kind, Source, Listen, Upstream, Address string
	Keep                                    int
	KeepFastCGI                             bool
}

// Nginx starts nginx with the server blocks of Laravel's and Octane's deployment pages.
func Nginx(t T, cfg NginxConfig) *NginxServer {
	t.Helper()
	a := App(t)
	binary := program(t, a, "nginx")
	n := &NginxServer{}
	start(t, 3, func(addrs []string) *service {
		name := a.name("nginx")
		pages := n.pages(a, cfg, addrs)
		conf, err := a.render(name, map[string]any{
			"Var": a.Var, "Name": name, "User": superuser(), "Workers": max(1, cfg.Workers),
			"HeaderKiB": cfg.HeaderKiB, "Pages": pages,
		}, "nginx/nginx.conf.tmpl", "nginx/laravel.conf.tmpl", "nginx/octane.conf.tmpl")
		if err != nil {
			t.Fatalf("%v", err)
		}
		n.service = &service{name: name, argv: []string{binary, "-e", "stderr", "-p", a.Var, "-c", conf},
			env: a.environment(), log: filepath.Join(a.Var, name+".log"), ready: func() error {
				for _, p := range pages {
					if err := answers("http://" + p.Listen + "/robots.txt"); err != nil {
						return err
					}
				}
				return nil
			}}
		return n.service
	})
	return n
}

// pages says which server blocks cfg asks for, and sets their URLs.
func (n *NginxServer) pages(a *Application, cfg NginxConfig, addrs []string) []page {
	var pages []page
	add := func(p page, url *string) {
		p.Source, p.Listen = a.Source, addrs[len(pages)]
		*url = "http://" + p.Listen
		pages = append(pages, p)
	}
	if cfg.FPM != "" {
		add(page{Kind: "laravel", Upstream: "fpm", Address: cfg.FPM}, &n.LaravelURL)
	}
	if cfg.FPM != "" && cfg.Keep > 0 {
		kept := page{Kind: "laravel", Upstream: "fpm_kept", Address: cfg.FPM, Keep: cfg.Keep, KeepFastCGI: true}
		add(kept, &n.LaravelKeptURL)
	}
	if cfg.Octane != "" {
		add(page{Kind: "octane", Upstream: "octane", Address: cfg.Octane, Keep: 64}, &n.OctaneURL)
	}
	return pages
}
