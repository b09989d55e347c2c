package conf

import "strings"

// nearest returns the known word that name is most likely a slip of, or "". A word that only goes on longer,
// such as warning for warn, is near whatever its length.
func nearest(name string, known []string) string {
	best, least := "", max(1, len(name)/3)+1
	if len(name) > 64 {
		return ""
	}
	for _, word := range known {
		d := distance(strings.ToLower(name), strings.ToLower(word))
		if len(word) > 2 && strings.HasPrefix(name, word) {
			d = min(d, 1)
		}
		if d < least {
			best, least = word, d
		}
	}
	return best
}

// distance counts the letters to add, drop, replace or swap with their neighbour to turn a into b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, above, row := rows[(i-1)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}

// oneOf lists words for a message: a, b or c.
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// meant is the end of a message that names the nearest word, or "".
func meant(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return `; did you mean "` + near + `"?`
	}
	return ""
}
