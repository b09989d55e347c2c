package compare

import (
	"fmt"
	"testing"
)

func person(name string, round int) *Answer {
	return htmlAnswer(fmt.Sprintf("<p>Hello %s, %s@shop.test, request %d</p>", name, name, 1_000_000+round))
}

// A worker that stays answers with the user of the request before.
func TestAnotherUsersAnswerIsSuspected(t *testing.T) {
	var leaky, clean Leaks
	users := []string{"annabel", "robert"}
	suspected, at := 0, -1
	for i := range 50 {
		user, before := users[i%2], users[(i+1)%2]
		if clean.Add(user, person(user, i), person(user, 5000+i)) > 0 {
			t.Errorf("pair %d of a clean backend is suspected", i)
		}
		if leaky.Add(user, person(user, i), person(before, i)) > 0 {
			if suspected++; at < 0 {
				at = i
			}
		}
	}
	if at < 0 || at > 10 || suspected < 40 {
		t.Errorf("%d of 50 leaks were suspected, the first at %d", suspected, at)
	}
}

// Tenants are told apart by their host.
func TestAnotherTenantsAnswerIsSuspected(t *testing.T) {
	var l Leaks
	page := func(tenant string) *Answer { return jsonAnswer(`{"tenant":"` + tenant + `","items":["common"]}`) }
	for range 3 {
		for _, host := range []string{"first.test", "second.test"} {
			if l.Add(host, page(host), page(host)) != 0 {
				t.Fatal("a clean pair is suspected")
			}
		}
	}
	if l.Add("first.test", page("first.test"), page("second.test")) == 0 {
		t.Error("the other tenant's name is not noticed")
	}
}

func TestMarkersAreBounded(t *testing.T) {
	var l Leaks
	for i := range 60 {
		body := ""
		for j := range 5000 {
			body += " word" + itoa(i*5000+j)
		}
		l.Add(itoa(i), answer("text/plain", body), answer("text/plain", body))
	}
	if len(l.markers) > maxMarkers {
		t.Errorf("%d markers", len(l.markers))
	}
}
