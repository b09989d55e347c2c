package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func usl(lambda, sigma, kappa, n float64) float64 {
	return lambda * n / (1 + sigma*(n-1) + kappa*n*(n-1))
}

func TestUSLIsFoundAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const runs, lambda, sigma, kappa = 200, 500, 0.05, 0.001
	inside := 0
	for range runs {
		var n, x []float64
		for at := 1.0; at < 100; at *= 1.4 {
			n = append(n, at)
			x = append(x, usl(lambda, sigma, kappa, at)*(1+0.005*random.NormFloat64()))
		}
		u, err := FitUSL(n, x, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct{ got, want float64 }{
			"lambda": {u.Lambda.Estimate, lambda}, "sigma": {u.Sigma.Estimate, sigma}, "kappa": {u.Kappa.Estimate, kappa},
		} {
			if math.Abs(c.got/c.want-1) > 0.35 {
				t.Errorf("%s = %g, want %g", what, c.got, c.want)
			}
		}
		if u.Kappa.Contains(kappa) {
			inside++
		}
	}
	if inside < runs*85/100 {
		t.Errorf("kappa was in its interval %d of %d times", inside, runs)
	}
	exact, err := FitUSL([]float64{1, 2, 4, 8, 16, 32}, []float64{
		usl(9, .1, .01, 1), usl(9, .1, .01, 2), usl(9, .1, .01, 4), usl(9, .1, .01, 8), usl(9, .1, .01, 16), usl(9, .1, .01, 32),
	}, 0.95)
	if err != nil || math.Abs(exact.Sigma.Estimate-.1) > 1e-9 || math.Abs(exact.Kappa.Estimate-.01) > 1e-9 || exact.R2 < 0.999 {
		t.Errorf("%+v, %v", exact, err)
	}
}

func TestUSLIsNotShownWhereItSaysNothing(t *testing.T) {
	for name, c := range map[string]struct{ n, x []float64 }{
		"few points":    {[]float64{1, 2, 4}, []float64{1, 2, 3}},
		"close points":  {[]float64{2, 2.1, 2.2, 2.3, 2.4, 2.5}, []float64{1, 2, 3, 4, 5, 6}},
		"idle":          {[]float64{.1, .2, .3, .4, .5, .6}, []float64{1, 2, 3, 4, 5, 6}},
		"noise":         {[]float64{1, 2, 4, 8, 16, 32}, []float64{5, 1, 9, 2, 8, 3}},
		"one place":     {[]float64{1, 1, 1, 1, 1, 4}, []float64{1, 1, 1, 1, 1, 1}},
		"not a number":  {[]float64{1, 2, 4, 8, 16, 32}, []float64{1, 2, math.NaN(), 4, 5, 6}},
		"other lengths": {[]float64{1, 2}, nil},
	} {
		if u, err := FitUSL(c.n, c.x, 0.95); !errors.Is(err, ErrUSL) {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}
