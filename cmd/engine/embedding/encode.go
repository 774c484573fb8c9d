package embedding

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"
)

// Dimensions is the number of a vector's values.
const Dimensions = width

// maxPieces limits the pieces of a text that are encoded. 200 pieces are about 150 words. The cost of encoding grows
// with the number of pieces.
const maxPieces = 200

// These are the sizes of the model.
const (
	width    = 512
	tables   = 17
	rows     = 7530
	branch   = 256
	features = width + 3*branch
	narrow   = 320
)

// branches are the convolutions. Each combines `span` neighbouring pieces; `before` of them precede the current piece.
var branches = []struct {
	name         string
	span, before int
}{{"2", 2, 0}, {"3", 3, 1}, {"5", 5, 2}}

// tiny prevents a division by zero. The model was trained with this value.
const tiny = 1e-12

// sizes returns the number of values of each weight by name.
func sizes() map[string]int {
	all := map[string]int{
		"scale": tables, "lo": tables, "ln_g": features, "ln_b": features, "cnn_W": features * width, "cnn_b": width,
		"d0": width * narrow, "d1": narrow * narrow, "p1": width * narrow, "d2": narrow * width, "p3": narrow * width,
		"d3": width * width,
	}
	for _, b := range branches {
		all["proj"+b.name] = width * branch
		for _, name := range []string{"proj_b", "ln_g", "ln_b", "b1_", "b2_"} {
			all[name+b.name] = branch
		}
		all["w1_"+b.name], all["w2_"+b.name] = b.span*branch*branch, b.span*branch*branch
	}
	return all
}

// Encode returns the vector of a text. The vector has length 1.
func (m *Model) Encode(text string) []float32 {
	w, cut := m.weights, m.pieces.cut(text)
	gain, shift := slices.Concat(w["ln_g2"], w["ln_g3"], w["ln_g5"]), slices.Concat(w["ln_b2"], w["ln_b3"], w["ln_b5"])
	// A row of `seen` has the vector of a piece, and then each branch's result for the piece and its neighbors.
	seen := make([][]float32, len(cut))
	for t, piece := range cut {
		table, at := int(piece)%tables, int(piece)/tables*width
		seen[t] = slices.Concat(make([]float32, width), w["proj_b2"], w["proj_b3"], w["proj_b5"])
		for i, b := range m.table[table][at : at+width] {
			seen[t][i] = float32(b)*w["scale"][table] + w["lo"][table]
		}
		for i, b := range branches {
			multiply(seen[t][width+i*branch:][:branch], seen[t][:width], w["proj"+b.name])
		}
		normalize(seen[t][width:], gain, shift)
	}
	m.convolve(seen)
	sum, mean := make([]float32, features), make([]float32, width)
	for _, row := range seen {
		normalize(row, w["ln_g"], w["ln_b"])
		for i, x := range row {
			sum[i] += x
		}
	}
	multiply(mean, sum, w["cnn_W"])
	for i, b := range w["cnn_b"] {
		mean[i] = (mean[i] + b*float32(len(cut))) / float32(math.Sqrt(float64(len(cut))))
	}
	first, second := make([]float32, narrow), make([]float32, narrow)
	third, made := make([]float32, width), make([]float32, width)
	multiply(first, mean, w["d0"])
	multiply(second, mean, w["p1"])
	multiply(second, positive(first), w["d1"])
	multiply(made, positive(second), w["p3"])
	multiply(third, second, w["d2"])
	multiply(made, positive(third), w["d3"])
	square := 0.0
	for i, x := range made {
		made[i] = float32(math.Tanh(float64(x)))
		square += float64(made[i]) * float64(made[i])
	}
	for i := range made {
		made[i] /= float32(math.Sqrt(max(square, tiny)))
	}
	return made
}

// convolve computes each branch's values for the pieces, in two layers.
func (m *Model) convolve(seen [][]float32) {
	for i, b := range branches {
		part := func(t int) []float32 { return seen[t][width+i*branch:][:branch] }
		for _, layer := range []string{"1_", "2_"} {
			made := make([][]float32, len(seen))
			for t := range seen {
				made[t] = slices.Clone(m.weights["b"+layer+b.name])
				for k := range b.span {
					if near := t + k - b.before; near >= 0 && near < len(seen) {
						multiply(made[t], part(near), m.weights["w"+layer+b.name][k*branch*branch:][:branch*branch])
					}
				}
			}
			for t := range seen {
				for j, x := range positive(made[t]) {
					part(t)[j] += x
				}
			}
		}
	}
}

// multiply adds the product of a row and a matrix to `sum`.
func multiply(sum, row, matrix []float32) {
	for i, r := range row {
		gonum.Implementation{}.Saxpy(len(sum), r, matrix[i*len(sum):], 1, sum, 1)
	}
}

func positive(values []float32) []float32 {
	for i, x := range values {
		values[i] = max(x, 0)
	}
	return values
}

// normalize scales a row to mean 0 and variance 1, and then applies the learned gain and shift.
func normalize(row, gain, shift []float32) {
	sum, square := 0.0, 0.0
	for _, x := range row {
		sum += float64(x)
		square += float64(x) * float64(x)
	}
	mean := sum / float64(len(row))
	factor := 1 / math.Sqrt(square/float64(len(row))-mean*mean+tiny)
	for i, x := range row {
		row[i] = float32((float64(x)-mean)*factor)*gain[i] + shift[i]
	}
}
