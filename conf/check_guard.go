package conf

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// guards checks what stands between clients and the application of a site, and reads the files it names.
func (c *checker) guards(n *node, path string, s *Site) {
	access, maintenance := n.get("access"), n.get("maintenance")
	c.ranges(access.get("allow"), path+".access.allow", s.Access.Allow)
	c.ranges(access.get("deny"), path+".access.deny", s.Access.Deny)
	c.ranges(maintenance.get("allow"), path+".maintenance.allow", s.Maintenance.Allow)
	if page := maintenance.good("page"); page != nil && s.Maintenance.Page != "" {
		if _, err := c.read(s.Maintenance.Page); err != nil {
			c.fail(page, path+".maintenance.page", "%s cannot be read: %s", filepath.Base(s.Maintenance.Page), reasonOf(err))
		}
	}
	if secret := maintenance.good("secret"); secret != nil && strings.ContainsFunc(s.Maintenance.Secret, notBare) {
		c.fail(secret, path+".maintenance.secret", "is the path that lets its visitor pass; want letters, digits, - and _ only")
	}
	if hsts := n.get("hsts"); hsts.good("preload") != nil && s.HSTS.Preload && (!s.HSTS.Subdomains || s.HSTS.MaxAge < 365*24*time.Hour) {
		c.missing(hsts.get("preload"), path+".hsts.preload", "is for names that have subdomains = true and a max_age of 365d or more")
	}
	for i := range s.Rates {
		if !n.get("rate").items[i].has("burst") {
			s.Rates[i].Burst = s.Rates[i].Rate.Count
		}
	}
}

// parseFrequency reads "10/s", "300/m" or "5000/h".
func parseFrequency(s string) (Frequency, error) {
	count, unit, found := strings.Cut(s, "/")
	n, err := strconv.ParseUint(count, 10, 31)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	switch {
	case !found:
		return Frequency{}, errors.New("no unit of time")
	case err != nil || n == 0 || n > 1e6:
		return Frequency{}, errors.New("no whole number from 1 to 1000000")
	case per == 0:
		return Frequency{}, fmt.Errorf("unknown unit %q", unit)
	}
	return Frequency{int(n), per}, nil
}

func parseRateKey(s string) (RateKey, error) {
	from, name, named := strings.Cut(s, ":")
	switch {
	case from == "header":
		name, err := parseHeaderName(name)
		return RateKey{from, name}, err
	case from != "client" && from != "site":
		return RateKey{}, errors.New("unknown")
	case named:
		return RateKey{}, fmt.Errorf("%s takes no name", from)
	}
	return RateKey{From: from}, nil
}

// parseHeaderName returns the canonical form. Names with _ never pass the gateway.
func parseHeaderName(s string) (string, error) {
	if s == "" || strings.ContainsFunc(s, notBare) || strings.Contains(s, "_") {
		return "", errors.New("no name of a header")
	}
	return http.CanonicalHeaderKey(s), nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New(`neither "http://" nor "https://"`)
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("want a host, and no user or fragment")
	}
	return nil
}

// checkWords accepts text without control characters and quotation marks, which may stand in a header.
func checkWords(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '"' || r == '\\' }) {
		return errors.New(`a control character, " or \ has no place here`)
	}
	return nil
}

// mostCost is of a hash that takes about a second of CPU time to be compared.
const mostCost = 14

// checkHash accepts a bcrypt hash: $2y$COST$ and 53 characters.
func checkHash(s string) error {
	parts := strings.Split(s, "$")
	if len(parts) != 4 || parts[0] != "" || len(parts[1]) != 2 || parts[1][0] != '2' || !strings.Contains("aby", parts[1][1:]) ||
		len(parts[2]) != 2 || len(parts[3]) != 53 || strings.ContainsFunc(parts[3], notOfHash) {
		return errors.New("is no bcrypt hash")
	}
	if cost, err := strconv.Atoi(parts[2]); err != nil || cost < 4 || cost > mostCost {
		return fmt.Errorf("has a cost that is not from 4 to %d", mostCost)
	}
	return nil
}

func notOfHash(r rune) bool { return r != '.' && r != '/' && (notBare(r) || r == '-' || r == '_') }
