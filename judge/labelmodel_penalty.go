package judge

import "gonum.org/v1/gonum/mat"

// groupMean is the mean distance of a group's coefficients from their centres.
func (p *penalty) groupMean(group []int, beta []float64) float64 {
	sum := 0.0
	for _, j := range group {
		sum += beta[j] - p.centre[j]
	}
	return sum / float64(len(group))
}

func (p *penalty) loss(beta []float64) float64 {
	sum := 0.0
	for j, b := range beta {
		d := b - p.centre[j]
		sum += float64(0.5 * p.precision[j] * d * d)
	}
	for _, group := range p.groups {
		mean := p.groupMean(group, beta)
		for _, j := range group {
			d := beta[j] - p.centre[j] - mean
			sum += float64(0.5 * p.alike * d * d)
		}
	}
	return sum
}

func (p *penalty) gradient(grad, beta []float64) {
	for j, b := range beta {
		grad[j] = float64(p.precision[j] * (b - p.centre[j]))
	}
	for _, group := range p.groups {
		mean := p.groupMean(group, beta)
		for _, j := range group {
			grad[j] += float64(p.alike * (beta[j] - p.centre[j] - mean))
		}
	}
}

func (p *penalty) hessian(hess *mat.SymDense) {
	hess.Zero()
	for j, precision := range p.precision {
		hess.SetSym(j, j, precision)
	}
	for _, group := range p.groups {
		share := p.alike / float64(len(group))
		for _, i := range group {
			hess.SetSym(i, i, hess.At(i, i)+p.alike)
			for _, j := range group {
				if j <= i {
					hess.SetSym(i, j, hess.At(i, j)-share)
				}
			}
		}
	}
}

// voterGroups are the places, in a coefficient vector, of the same kind of
// feature of each voter, and of the indicators that it is missing.
func voterGroups(features []string) [][]int {
	var groups [][]int
	for _, kind := range []string{FeatureZ, FeatureBest, FeatureLogRank} {
		var known, missing []int
		for j, name := range features {
			for _, member := range Voters() {
				if name == Feature(member, kind) {
					known, missing = append(known, 1+j), append(missing, 1+len(features)+j)
				}
			}
		}
		if len(known) > 1 {
			groups = append(groups, known, missing)
		}
	}
	return groups
}
