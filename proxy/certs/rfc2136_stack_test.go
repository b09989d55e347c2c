//go:build stack

package certs

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"gateway/testdata/stack"
)

// zone is a DNS server with one zone, which takes signed updates (RFC 2136, RFC 8945).
type zone struct {
	name string

	mu      sync.Mutex // guards records
	records map[string][]string
	updates int
}

const (
	tsigKey    = "gateway."
	tsigSecret = "c2l4dGVlbiBieXRlcyBsb25nISEhIQ=="
)

func startZone(t *testing.T, name string) (*zone, string) {
	t.Helper()
	z := &zone{name: name, records: make(map[string][]string)}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := net.Listen("tcp", packets.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{tsigKey: tsigSecret}
	for _, server := range []*dns.Server{
		{PacketConn: packets, Handler: z, TsigSecret: secrets}, {Listener: stream, Handler: z, TsigSecret: secrets, MsgAcceptFunc: acceptUpdates},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			server.ActivateAndServe()
		}()
		t.Cleanup(func() { server.Shutdown(); <-done })
	}
	return z, packets.LocalAddr().String()
}

// acceptUpdates also lets through what the library takes for no question.
func acceptUpdates(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept }

func (z *zone) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	z.mu.Lock()
	defer z.mu.Unlock()
	m := new(dns.Msg).SetReply(r)
	m.Authoritative = true
	switch {
	case r.Opcode == dns.OpcodeUpdate && (r.IsTsig() == nil || w.TsigStatus() != nil):
		m.Rcode = dns.RcodeRefused
	case r.Opcode == dns.OpcodeUpdate:
		z.update(r.Ns)
		m.SetTsig(tsigKey, dns.HmacSHA256, 300, int64(r.IsTsig().TimeSigned))
	default:
		z.answer(m, r.Question[0])
	}
	w.WriteMsg(m)
}

func (z *zone) update(rrs []dns.RR) {
	for _, rr := range rrs {
		name := rr.Header().Name
		text := strings.Join(rr.(*dns.TXT).Txt, "")
		if rr.Header().Class == dns.ClassINET {
			z.records[name] = append(z.records[name], text)
			z.updates++
			continue
		}
		left := slices.DeleteFunc(z.records[name], func(one string) bool { return one == text })
		if z.records[name] = left; len(left) == 0 {
			delete(z.records, name)
		}
	}
}

func (z *zone) answer(m *dns.Msg, q dns.Question) {
	soa, _ := dns.NewRR(fmt.Sprintf("%s 60 IN SOA ns.%s admin.%s 1 60 60 60 60", z.name, z.name, z.name))
	switch {
	case q.Qtype == dns.TypeSOA && q.Name == z.name:
		m.Answer = append(m.Answer, soa)
	case q.Qtype == dns.TypeA:
		a, _ := dns.NewRR(q.Name + " 60 IN A 127.0.0.1")
		m.Answer = append(m.Answer, a)
	case q.Qtype == dns.TypeTXT:
		for _, text := range z.records[q.Name] {
			m.Answer = append(m.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 1}, Txt: []string{text}})
		}
	}
	if len(m.Answer) == 0 {
		m.Ns = append(m.Ns, soa)
	}
}

// TestWildcardByUpdateOfTheZone goes the whole way of a libdns provider: it finds the zone, sets the record, waits until
// it is seen, and removes it.
func TestWildcardByUpdateOfTheZone(t *testing.T) {
	z, addr := startZone(t, "example.com.")
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.DNS = addr }, func(cfg *Config, f *front) {
		cfg.Hosts = []string{f.host, "*." + f.host}
		cfg.DNS = DNS{
			Provider:  "rfc2136",
			Options:   map[string]string{"server": addr, "key_name": "gateway", "key_alg": "hmac-sha256", "key": tsigSecret},
			Resolvers: []string{addr}, Propagation: 30e9,
		}
	})
	f.start(t)
	f.await(t, "any."+f.host)
	until(t, "the records' removal", func() error {
		z.mu.Lock()
		defer z.mu.Unlock()
		if z.updates < 2 || len(z.records) > 0 {
			return fmt.Errorf("%d updates, left: %v", z.updates, z.records)
		}
		return nil
	})
}
