package bench

import "math/rand/v2"

const (
	// FewestPairs, UsualPairs and MostPairs bound how many pairs a comparison has.
	FewestPairs = 6
	UsualPairs  = 12
	MostPairs   = 30
	// controlEvery is after how many pairs both blocks are of one arm.
	controlEvery = 6
)

// turn is one block that stands ahead.
type turn struct {
	arm, pair, position int
	control             bool
	seed                uint64 // of arrivals and requests, the same for both blocks of a pair
}

// arrange puts the blocks of n pairs in order. Which arm comes first is drawn, and each comes first as often as the other;
// with a last one that is odd, chance decides. With one arm there are n blocks and no pairs.
func arrange(arms, n int, seed uint64) []turn {
	random := rand.New(rand.NewPCG(seed, 0x6f72646572))
	if arms < 2 {
		turns := make([]turn, n)
		for i := range turns {
			turns[i] = turn{pair: i, seed: random.Uint64()}
		}
		return turns
	}
	firsts := make([]int, n)
	for i := range firsts {
		firsts[i] = i % 2
	}
	if n%2 == 1 {
		firsts[n-1] = random.IntN(2)
	}
	random.Shuffle(n, func(i, j int) { firsts[i], firsts[j] = firsts[j], firsts[i] })
	var turns []turn
	pair := 0
	add := func(first, second int, control bool) {
		s := random.Uint64()
		turns = append(turns, turn{first, pair, 0, control, s}, turn{second, pair, 1, control, s})
		pair++
	}
	for i, first := range firsts {
		add(first, 1-first, false)
		if (i+1)%controlEvery == 0 {
			arm := (i + 1) / controlEvery % 2
			add(arm, arm, true)
		}
	}
	return turns
}
