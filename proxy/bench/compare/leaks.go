package compare

import (
	"hash/maphash"
	"sync"
)

const (
	shortestMarker = 6
	longestMarker  = 100
	maxMarkers     = 200_000 // over all sessions
	maxWords       = 4_000   // of an answer
	oftenEnough    = 2       // live answers of its session that a marker must have been in
)

// Leaks looks for answers that belong to somebody else: a worker that stays may keep what it knows of the user before. A
// marker is a word that the live backend has given to one session, more than once, and to no other. A shadow that gives it
// to another session, while the live backend does not, is suspected. The zero value is ready, and may be used concurrently.
type Leaks struct {
	mu      sync.Mutex // guards markers
	markers map[uint64]marker
}

// marker is whose a word is, and how many live answers it was in. A word of several sessions is nobody's.
type marker struct {
	session uint64
	seen    int
	shared  bool
}

// Add takes the two answers to one request of a session: its cookie, or the host where each is another tenant. It returns
// how many markers of other sessions are in the shadow's answer and not in the live one.
func (l *Leaks) Add(session string, live, shadow *Answer) int {
	own := maphash.String(seed, session)
	given := wordsOf(live.Body)
	found := wordsOf(shadow.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.markers == nil {
		l.markers = map[uint64]marker{}
	}
	foreign := 0
	for word := range found {
		if len(given) >= maxWords {
			break // what the live answer has further down is not known
		}
		m := l.markers[word]
		if m.seen >= oftenEnough && !m.shared && m.session != own && !given[word] {
			foreign++
		}
	}
	for word := range given {
		l.learn(word, own)
	}
	return foreign
}

func (l *Leaks) learn(word, session uint64) {
	m, ok := l.markers[word]
	switch {
	case !ok && len(l.markers) >= maxMarkers:
		return
	case !ok:
		m.session = session
	case m.session != session:
		m.shared = true
	}
	m.seen++
	l.markers[word] = m
}

// wordsOf returns hashes of the words of a body, and of addresses as one word. Times and hashes are in no two answers and
// need not be told apart here.
func wordsOf(body []byte) map[uint64]bool {
	words := map[uint64]bool{}
	start := 0
	for i := 0; i <= len(body) && len(words) < maxWords; i++ {
		if i < len(body) && inWord(body[i]) {
			continue
		}
		if n := i - start; n >= shortestMarker && n <= longestMarker {
			words[maphash.Bytes(seed, body[start:i])] = true
		}
		start = i + 1
	}
	return words
}

func inWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80 || b == '@' || b == '.' || b == '_' || b == '-'
}
