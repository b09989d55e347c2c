package workload

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// file is a workload in TOML.
type file struct {
	Host    string      `toml:"host"`
	Cookies string      `toml:"cookies"`
	Users   int         `toml:"users"`
	Login   []fileRoute `toml:"login"`
	Route   []fileRoute `toml:"route"`
}

type fileRoute struct {
	Name   string            `toml:"name"`
	Method string            `toml:"method"`
	Target string            `toml:"target"`
	Host   string            `toml:"host"`
	Header map[string]string `toml:"header"`
	Body   string            `toml:"body"`
	Weight float64           `toml:"weight"`
}

// mostUsers bounds what a file can make of memory.
const mostUsers = 100_000

// Load reads a workload from a TOML file. host is asked where the file names none.
func Load(path, host string) (*Workload, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	w, err := parseFile(text, host)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

func parseFile(text []byte, host string) (*Workload, error) {
	f := file{Host: host}
	decoder := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return nil, explain(err)
	}
	if f.Users < 0 || f.Users > mostUsers {
		return nil, fmt.Errorf("users: %d; want 1 to %d", f.Users, mostUsers)
	}
	w := &Workload{Host: f.Host, Cookies: Cookies(f.Cookies), Users: f.Users, Routes: routes(f.Route), Login: routes(f.Login)}
	return w, w.Check()
}

// explain says where in the file the fault is.
func explain(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, column := strict.Errors[0].Position()
		return fmt.Errorf("%d:%d: %s: unknown key", row, column, strings.Join(strict.Errors[0].Key(), "."))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, column := decode.Position()
		return fmt.Errorf("%d:%d: %w", row, column, err)
	}
	return err
}

func routes(from []fileRoute) []Route {
	var all []Route
	for _, f := range from {
		r := Route{
			Name: f.Name, Method: strings.ToUpper(f.Method), Target: f.Target, Host: f.Host, Body: []byte(f.Body), Weight: f.Weight,
			Header: make(http.Header, len(f.Header)),
		}
		for name, value := range f.Header {
			r.Header.Set(name, value)
		}
		all = append(all, r)
	}
	return all
}
