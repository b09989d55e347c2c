package static

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A coding is a content coding and the suffix of the sidecars in it.
type coding struct{ name, suffix string }

// codings are in our order of preference: the smallest first, for files that were packed ahead of time.
var codings = [...]coding{{"br", ".br"}, {"zstd", ".zst"}, {"gzip", ".gz"}}

// acceptable appends to list the codings that the values of Accept-Encoding allow, best first: by the
// client's weights, then by our order. What the client likes less than the plain file is left out.
func acceptable(list []coding, header []string) []coding {
	weights, identity := weigh(header)
	for weight := 1000; weight > 0 && weight >= identity; {
		next := 0
		for i, w := range weights {
			if w == weight {
				list = append(list, codings[i])
			} else if w < weight {
				next = max(next, w)
			}
		}
		weight = next
	}
	return list
}

// weigh returns the client's weight of each coding and of identity, in thousandths. What is not mentioned
// weighs what * does, and without that nothing: identity is then acceptable, but after every coding named.
func weigh(header []string) (weights [len(codings)]int, identity int) {
	const unset = -1
	star := unset
	identity = unset
	for i := range weights {
		weights[i] = unset
	}
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			weight := quality(parameters)
			switch name = lower(strings.TrimSpace(name)); name {
			case "*":
				star = weight
			case "identity":
				identity = weight
			case "x-gzip":
				name = "gzip" // RFC 9110, 8.4.1.3
			}
			for i, c := range codings {
				if c.name == name {
					weights[i] = weight
				}
			}
		}
	}
	for i := range weights {
		if weights[i] == unset {
			weights[i] = max(star, 0)
		}
	}
	return weights, max(identity, 0)
}

// quality returns the weight in parameters such as "q=0.5", in thousandths: 1000 without one, 0 if it is
// malformed, for then the client gets what everybody understands.
func quality(parameters string) int {
	name, value, found := strings.Cut(parameters, "=")
	if !found {
		return 1000
	}
	if lower(strings.TrimSpace(name)) != "q" {
		return 0
	}
	whole, fraction, _ := strings.Cut(strings.TrimSpace(value), ".")
	if whole == "1" && strings.Trim(fraction, "0") == "" && len(fraction) <= 3 {
		return 1000
	}
	if whole != "0" || len(fraction) > 3 || strings.Trim(fraction, "0123456789") != "" {
		return 0
	}
	weight := 0
	for i := range 3 {
		weight *= 10
		if i < len(fraction) {
			weight += int(fraction[i] - '0')
		}
	}
	return weight
}

// sidecar opens the best file that holds opened's bytes in a coding the client accepts, or returns nil. One
// that is older than the file itself was not made from it.
func (f *Files) sidecar(opened *file, header []string) (*file, string) {
	if len(header) == 0 {
		return nil, ""
	}
	var room [len(codings)]coding
	for _, c := range acceptable(room[:0], header) {
		name := opened.name + c.suffix
		if unix.Faccessat(opened.in.fd, name, unix.F_OK, 0) != nil {
			continue // most files have none, and to fail to open costs twice as much as to ask
		}
		side, err := f.openIn(tree{fd: opened.in.fd, small: opened.in.small}, name)
		if err != nil {
			continue
		}
		if side.mtime.Nano() >= opened.mtime.Nano() {
			return side, c.name
		}
		side.Close()
	}
	return nil, ""
}
