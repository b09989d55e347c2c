package lint

import "strings"

// isTable says whether the lines are a table of tab-separated values, under their command line or not.
func isTable(lines []string) bool {
	rows := 0
	for _, line := range lines {
		if strings.Contains(line, "\t") {
			rows++
		} else if line != "" && commandLine(line) == nil {
			return false
		}
	}
	return rows > 1
}

// table keeps the names of rows and columns: nothing in a table can be held against the output that it was made of.
func (r *Run) table(lines []string) {
	head := true
	for _, line := range lines {
		row := strings.Split(line, "\t")
		switch {
		case len(row) < 2:
		case head:
			r.Columns, head = row[1:], false
		case strings.HasPrefix(strings.ToLower(row[0]), "p"), strings.Contains(row[0], "_"):
			r.Columns = append(r.Columns, row[0])
		}
	}
}

// printed are the percentages of the quantiles that each tool prints.
var printed = map[string]string{
	"wrk": "50, 75, 90 and 99", "autocannon": "2.5, 50, 97.5 and 99", "hey": "10, 25, 50, 75, 90, 95 and 99",
	"oha": "10, 25, 50, 75, 90, 95, 99, 99.9 and 99.99", "ab": "50, 66, 75, 80, 90, 95, 98 and 99",
}

// quantileColumns returns the columns that hold a quantile, by their percentage: p95_latency_ms is "95".
func (r *Run) quantileColumns() map[string]string {
	found := map[string]string{}
	for _, column := range r.Columns {
		rest, ok := strings.CutPrefix(strings.ToLower(column), "p")
		end := strings.IndexFunc(rest+"_", func(c rune) bool { return !strings.ContainsRune("0123456789.", c) })
		if ok && end > 0 {
			found[rest[:end]] = column
		}
	}
	return found
}

// prints says whether a tool prints that quantile.
func prints(tool, percent string) bool {
	for _, q := range strings.FieldsFunc(printed[tool], func(c rune) bool { return c == ',' || c == ' ' }) {
		if q == percent {
			return true
		}
	}
	return false
}
