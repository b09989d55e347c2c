package bench

// Recompute computes figures, findings and verdict again from the blocks, as when they were measured. A result that was
// read from a file comes to what stands in it, unless the rules are others by now.
func (r *Result) Recompute() { r.conclude() }

// Value reads a figure, by its name, off one block. ok is false where the block does not tell or there is no such figure.
func (r *Result) Value(figure string, b *Block) (v float64, ok bool) {
	for _, m := range measures(r.Settings) {
		if m.name == figure {
			return m.of(b, r.Settings.Discard.Seconds())
		}
	}
	return 0, false
}

// Headline is the figure that the verdict goes by; nil when there are no figures.
func (r *Result) Headline() *Figure { return r.headline() }
