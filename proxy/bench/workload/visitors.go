package workload

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"

	"gateway/proxy/bench/load"
)

// Visitors are the virtual users of one arm, with the cookies that it has given them. They are an arm themselves.
type Visitors struct {
	arm      load.Arm
	workload *Workload
	jars     []*cookiejar.Jar
}

// Visitors returns the users of arm. With no cookies, that is arm as it is.
func (w *Workload) Visitors(arm load.Arm) *Visitors {
	v := &Visitors{arm: arm, workload: w}
	if w.Cookies == NoCookies {
		return v
	}
	for range w.users() {
		jar, _ := cookiejar.New(nil) // it has no error to return
		v.jars = append(v.jars, jar)
	}
	return v
}

// Send sends r with the cookies of its user, and keeps what the answer sets.
func (v *Visitors) Send(ctx context.Context, r *load.Request, a *load.Answer) error {
	if len(v.jars) == 0 || r.User < 0 {
		return v.arm.Send(ctx, r, a)
	}
	jar := v.jars[r.User]
	at := &url.URL{Scheme: "https", Host: r.Host, Path: "/"}
	own := *r
	own.Header = r.Header.Clone()
	if own.Header == nil {
		own.Header = http.Header{}
	}
	for _, cookie := range jar.Cookies(at) {
		own.Header.Add("Cookie", cookie.Name+"="+cookie.Value)
	}
	if err := v.arm.Send(ctx, &own, a); err != nil {
		return err
	}
	if set := (&http.Response{Header: a.Header}).Cookies(); len(set) > 0 {
		jar.SetCookies(at, set)
	}
	return nil
}

// atOnce is how many users log in at the same time.
const atOnce = 8

// Login has each user do what the workload says of logging in. It fails with the first answer that is an error.
func (v *Visitors) Login(ctx context.Context) error {
	if len(v.workload.Login) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for user := range v.jars {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if err := v.login(ctx, user); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (v *Visitors) login(ctx context.Context, user int) error {
	for i := range v.workload.Login {
		step := &v.workload.Login[i]
		a := load.Answer{KeepBody: true}
		if err := v.Send(ctx, step.request(i, user), &a); err != nil {
			return fmt.Errorf("login of user %d: %s: %w", user, step.Name, err)
		}
		if a.Status >= 400 {
			return fmt.Errorf("login of user %d: %s: %d %s: %.200q", user, step.Name, a.Status, http.StatusText(a.Status), a.Body)
		}
	}
	return nil
}
