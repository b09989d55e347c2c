package stat

import (
	"errors"
	"fmt"
	"math"
)

// USL is the universal scalability law (Gunther): with n requests under way on average, as many are answered in a second as
// Lambda n / (1 + Sigma (n-1) + Kappa n (n-1)).
type USL struct {
	Lambda Interval `json:"lambda"` // a second, were there nothing to wait for
	Sigma  Interval `json:"sigma"`  // the share that is done one after the other
	Kappa  Interval `json:"kappa"`  // what each pays for each other
	R2     float64  `json:"r2"`     // the share of the differences in rate that the law explains
	Points int      `json:"points"`
}

// ErrUSL is returned where the law says nothing of the points.
var ErrUSL = errors.New("no law of scalability")

const (
	fewestUSL = 6    // points
	widestUSL = 4    // times as many under way at the last point as at the first
	leastR2   = 0.95 // below it the curve itself is all that can be shown
)

// FitUSL fits the law to the rates that were seen with so many under way. Points with fewer than one are left out, for there
// is nobody to wait for.
func FitUSL(underWay, rate []float64, confidence float64) (USL, error) {
	var n, x []float64
	for i := range min(len(underWay), len(rate)) {
		if underWay[i] >= 1 && rate[i] > 0 {
			n, x = append(n, underWay[i]), append(x, rate[i])
		}
	}
	if len(n) < fewestUSL {
		return USL{}, fmt.Errorf("%w: %d points; want %d", ErrUSL, len(n), fewestUSL)
	}
	least, most := n[0], n[0]
	for _, v := range n {
		least, most = min(least, v), max(most, v)
	}
	if most < widestUSL*least {
		return USL{}, fmt.Errorf("%w: from %.1f to %.1f requests under way; want %d times as many", ErrUSL, least, most, widestUSL)
	}
	u, err := fitUSL(n, x, confidence)
	switch {
	case err != nil:
		return USL{}, err
	case !(u.R2 > leastR2):
		return USL{}, fmt.Errorf("%w: it explains %.0f %% of the differences; want %.0f %%", ErrUSL, 100*max(u.R2, 0), 100*leastR2)
	case u.Sigma.High < 0 || u.Kappa.High < 0:
		return USL{}, fmt.Errorf("%w: it would want a share below zero", ErrUSL)
	}
	return u, nil
}

// fitUSL solves n/x = a + b (n-1) + c n (n-1) by least squares, relative to n/x, since rates are measured to so many per
// cent: Lambda is 1/a, Sigma b/a and Kappa c/a.
func fitUSL(n, x []float64, confidence float64) (USL, error) {
	var m matrix
	var right [3]float64
	for i := range n {
		row, weight := columns(n[i]), x[i]/n[i]
		for j := range row {
			right[j] += row[j] * weight
			for k := range row {
				m[j][k] += row[j] * row[k] * weight * weight
			}
		}
	}
	inverse, ok := m.inverse()
	if !ok {
		return USL{}, fmt.Errorf("%w: the points lie too close to each other", ErrUSL)
	}
	var fit [3]float64
	for j := range fit {
		for k := range right {
			fit[j] += inverse[j][k] * right[k]
		}
	}
	if !(fit[0] > 0) {
		return USL{}, fmt.Errorf("%w: it would want a rate below zero", ErrUSL)
	}
	var rest float64
	for i := range n {
		rest += math.Pow(1-predict(fit, n[i])*x[i]/n[i], 2)
	}
	free := len(n) - 3
	t, variance := tQuantile(1-(1-confidence)/2, free), rest/float64(free)
	around := func(estimate, variance float64) Interval {
		reach := t * math.Sqrt(max(variance, 0))
		return Interval{estimate, estimate - reach, estimate + reach}
	}
	share := func(j int) Interval { // of fit[j] to fit[0], by the first terms of its series
		q := fit[j] / fit[0]
		return around(q, variance*(inverse[j][j]+q*q*inverse[0][0]-2*q*inverse[0][j])/(fit[0]*fit[0]))
	}
	return USL{
		Lambda: around(1/fit[0], variance*inverse[0][0]/math.Pow(fit[0], 4)),
		Sigma:  share(1), Kappa: share(2), R2: explained(fit, n, x), Points: len(n),
	}, nil
}

func columns(n float64) [3]float64 { return [3]float64{1, n - 1, n * (n - 1)} }

// predict is n over the rate.
func predict(fit [3]float64, n float64) (v float64) {
	for j, c := range columns(n) {
		v += fit[j] * c
	}
	return v
}

// explained is the share of the variance of the rates that the fit explains.
func explained(fit [3]float64, n, x []float64) float64 {
	mean, _ := moments(x)
	var rest, all float64
	for i := range n {
		rest += math.Pow(x[i]-n[i]/predict(fit, n[i]), 2)
		all += math.Pow(x[i]-mean, 2)
	}
	return 1 - rest/all
}

type matrix [3][3]float64

// inverse is that of a symmetric matrix, by its minors.
func (m *matrix) inverse() (matrix, bool) {
	var minors matrix
	for j := range 3 {
		for k := range 3 {
			a, b, c, d := (j+1)%3, (j+2)%3, (k+1)%3, (k+2)%3
			minors[k][j] = m[a][c]*m[b][d] - m[a][d]*m[b][c]
		}
	}
	det := m[0][0]*minors[0][0] + m[0][1]*minors[1][0] + m[0][2]*minors[2][0]
	if math.Abs(det) <= 1e-12*math.Abs(m[0][0]*m[1][1]*m[2][2]) {
		return minors, false
	}
	for j := range 3 {
		for k := range 3 {
			minors[j][k] /= det
		}
	}
	return minors, true
}
