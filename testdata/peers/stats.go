package main

import "slices"

// spread is the middle of a few figures and how far they reach. With so few, a standard deviation would only
// seem to say more.
type spread struct{ Median, Min, Max float64 }

// spreadOf returns the zero spread for no figures.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return spread{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// ratios divides round by round: what slows the machine down for a while slows both sides of a pair. Rounds that
// only one side has are left out, as are those in which base is 0.
func ratios(of, base map[int]float64) []float64 {
	var all []float64
	for round, value := range of {
		if b := base[round]; b != 0 {
			all = append(all, value/b)
		}
	}
	return all
}

// figure is one of the columns.
type figure struct {
	Name string
	Unit string
	of   func(sample) float64
	form string // of a value, for Sprintf
}

var figures = []figure{
	{"requests/s", "", func(s sample) float64 { return s.PerSecond }, "%.0f"},
	{"p50", "ms", func(s sample) float64 { return ms(s.P50) }, "%.2f"},
	{"p99", "ms", func(s sample) float64 { return ms(s.P99) }, "%.2f"},
	{"CPU/request", "µs", sample.perRequest, "%.1f"},
}

// line is one peer on one row, over all rounds.
type line struct {
	Peer    string
	Values  []spread // one for each of figures
	Ratios  []spread // to the reference, one for each of figures; none without a valid reference
	Busy    spread   // of the core
	Invalid []string // why there are no values
}

// summarize makes the lines of one row, in the order of peers. A peer with one invalid sample has no values: what
// is left over would be a choice.
func summarize(samples []sample, row string, peers []peer) []line {
	byPeer := map[string][]sample{}
	for _, s := range samples {
		if s.Row == row {
			byPeer[s.Peer] = append(byPeer[s.Peer], s)
		}
	}
	base := byPeer[reference]
	if len(invalid(base)) > 0 {
		base = nil
	}
	var lines []line
	for _, p := range peers {
		if mine := byPeer[p.Key]; len(mine) > 0 {
			lines = append(lines, summary(p.Key, mine, base))
		}
	}
	return lines
}

func summary(peer string, mine, base []sample) line {
	l := line{Peer: peer, Invalid: invalid(mine)}
	if len(l.Invalid) > 0 {
		return l
	}
	for _, f := range figures {
		l.Values = append(l.Values, spreadOf(values(mine, f.of)))
		if len(base) > 0 {
			l.Ratios = append(l.Ratios, spreadOf(ratios(byRound(mine, f.of), byRound(base, f.of))))
		}
	}
	l.Busy = spreadOf(values(mine, sample.busy))
	return l
}

func invalid(samples []sample) (reasons []string) {
	for _, s := range samples {
		if s.Invalid != "" && !slices.Contains(reasons, s.Invalid) {
			reasons = append(reasons, s.Invalid)
		}
	}
	return reasons
}

func values(samples []sample, of func(sample) float64) []float64 {
	all := make([]float64, len(samples))
	for i, s := range samples {
		all[i] = of(s)
	}
	return all
}

func byRound(samples []sample, of func(sample) float64) map[int]float64 {
	all := make(map[int]float64, len(samples))
	for _, s := range samples {
		all[s.Round] = of(s)
	}
	return all
}
