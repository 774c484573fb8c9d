package embedding

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Dimensions is the number of a vector's values.
const Dimensions = width

// MaxPieces bounds what is read of a text: about 150 words. The cost grows with them.
const MaxPieces = 200

// convolution is one of the branches: each piece is seen with its neighbors, so many in all, so many of them before it.
type convolution struct {
	name         string
	span, before int
}

var branches = []convolution{{"2", 2, 0}, {"3", 3, 1}, {"5", 5, 2}}

// tiny keeps a division from being one by zero, as when the model was trained.
const tiny = 1e-12

// Encode gives the vector of a text. It has length 1.
func (m *Model) Encode(text string) []float32 {
	cut := m.pieces.cut(text, MaxPieces)
	n := len(cut)
	seen := make([]float32, n*features)
	single := make([]float32, n*width)
	for t, piece := range cut {
		table, row := int(piece)%tables, int(piece)/tables
		for i, b := range m.table[table][row*width : (row+1)*width] {
			single[t*width+i] = float32(b)*m.scale[table] + m.lowest[table]
		}
		copy(seen[t*features:], single[t*width:(t+1)*width])
	}
	m.convolve(seen, single, n)
	for t := range n {
		normalize(seen[t*features:(t+1)*features], m.weights["ln_g"], m.weights["ln_b"])
	}
	sum := make([]float32, features)
	for t := range n {
		for i, x := range seen[t*features : (t+1)*features] {
			sum[i] += x
		}
	}
	mean := make([]float32, width)
	for i, b := range m.weights["cnn_b"] {
		mean[i] = b * float32(n)
	}
	multiply(mean, sum, m.weights["cnn_W"], 1, features, width, features, width)
	for i := range mean {
		mean[i] /= float32(math.Sqrt(float64(n)))
	}
	return m.layers(mean)
}

// convolve writes what the branches see of the pieces' vectors.
func (m *Model) convolve(seen, single []float32, n int) {
	const all = 3 * branch
	projected := make([]float32, n*all)
	var scale, shift []float32
	for i, b := range branches {
		bias := m.weights["proj_b"+b.name]
		for t := range n {
			copy(projected[t*all+i*branch:], bias)
		}
		multiply(projected[i*branch:], single, m.weights["proj"+b.name], n, width, branch, width, all)
		scale, shift = append(scale, m.weights["ln_g"+b.name]...), append(shift, m.weights["ln_b"+b.name]...)
	}
	for t := range n {
		normalize(projected[t*all:(t+1)*all], scale, shift)
	}
	for i, b := range branches {
		first := make([]float32, n*branch)
		for t := range n {
			copy(first[t*branch:(t+1)*branch], projected[t*all+i*branch:])
		}
		second := b.see(first, n, m.weights["w1_"+b.name], m.weights["b1_"+b.name])
		third := b.see(second, n, m.weights["w2_"+b.name], m.weights["b2_"+b.name])
		for t := range n {
			copy(seen[t*features+width+i*branch:], third[t*branch:(t+1)*branch])
		}
	}
}

// see adds to each of n vectors what it means together with its neighbors.
func (b convolution) see(vectors []float32, n int, weights, bias []float32) []float32 {
	// Rows of zeros stand for what is before the first and after the last.
	padded := make([]float32, (n+b.span-1)*branch)
	copy(padded[b.before*branch:], vectors)
	made := make([]float32, n*branch)
	for t := range n {
		copy(made[t*branch:], bias)
	}
	for k := range b.span {
		multiply(made, padded[k*branch:], weights[k*branch*branch:], n, branch, branch, branch, branch)
	}
	for i, x := range made {
		made[i] = max(x, 0) + vectors[i]
	}
	return made
}

// layers makes the vector of a text of the mean of what was seen.
func (m *Model) layers(mean []float32) []float32 {
	w := m.weights
	first, second, third, made := make([]float32, narrow), make([]float32, narrow), make([]float32, width), make([]float32, width)
	multiply(first, mean, w["d0"], 1, width, narrow, width, narrow)
	positive(first)
	multiply(second, mean, w["p1"], 1, width, narrow, width, narrow)
	multiply(second, first, w["d1"], 1, narrow, narrow, narrow, narrow)
	positive(second)
	multiply(third, second, w["d2"], 1, narrow, width, narrow, width)
	positive(third)
	multiply(made, second, w["p3"], 1, narrow, width, narrow, width)
	multiply(made, third, w["d3"], 1, width, width, width, width)
	square := 0.0
	for i, x := range made {
		y := math.Tanh(float64(x))
		made[i] = float32(y)
		square += y * y
	}
	length := float32(math.Sqrt(max(square, tiny)))
	for i := range made {
		made[i] /= length
	}
	return made
}

// multiply adds to c, of rows of which stepC is the distance, the product of a (n × k, likewise) and b (k × m).
func multiply(c, a, b []float32, n, k, m, stepA, stepC int) {
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, n, m, k, 1, a, stepA, b, m, 1, c, stepC)
}

func positive(values []float32) {
	for i, x := range values {
		values[i] = max(x, 0)
	}
}

// normalize gives a row mean 0 and variance 1, then the scale and shift that were learned.
func normalize(row, scale, shift []float32) {
	sum, square := 0.0, 0.0
	for _, x := range row {
		sum += float64(x)
	}
	mean := sum / float64(len(row))
	for _, x := range row {
		square += (float64(x) - mean) * (float64(x) - mean)
	}
	factor := 1 / math.Sqrt(square/float64(len(row))+tiny)
	for i, x := range row {
		row[i] = float32((float64(x)-mean)*factor)*scale[i] + shift[i]
	}
}
