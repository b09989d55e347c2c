package bench

import (
	"os"
	"regexp"
	"testing"
)

func TestEveryRuleThatIsFoundHasItsWords(t *testing.T) {
	known := map[string]bool{}
	for i, r := range Rules() {
		if r != RuleOf(r.ID) || r.Title == "" || r.Means == "" || r.Do == "" {
			t.Errorf("%+v", r)
		}
		if i > 0 && Rules()[i-1].ID >= r.ID {
			t.Errorf("%s after %s", r.ID, Rules()[i-1].ID)
		}
		known[r.ID] = true
	}
	source, err := os.ReadFile("findings.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range regexp.MustCompile(`"V\d\d"`).FindAllString(string(source), -1) {
		if !known[id[1:4]] {
			t.Errorf("%s is found and has no words", id)
		}
	}
	if RuleOf("V99").Title != "" {
		t.Error("V99 has a title")
	}
}
