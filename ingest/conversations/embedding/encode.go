package embedding

import "math"

// Dimensions is the number of a vector's values.
const Dimensions = width

// maxPieces bounds what is read of a text: about 150 words. The cost grows with them.
const maxPieces = 200

// The sizes of the model.
const (
	width    = 512
	tables   = 17
	rows     = 7530
	branch   = 256
	features = width + 3*branch
	narrow   = 320
)

// branches are the convolutions: each piece is seen with its neighbors, so many in all, so many of them before it.
var branches = []struct {
	name         string
	span, before int
}{{"2", 2, 0}, {"3", 3, 1}, {"5", 5, 2}}

// tiny keeps a division from being one by zero, as when the model was trained.
const tiny = 1e-12

// sizes are those of the weights, by their names.
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

// Encode gives the vector of a text. It has length 1.
func (m *Model) Encode(text string) []float32 {
	cut, w := m.pieces.cut(text, maxPieces), m.weights
	n := len(cut)
	// A row of seen is a piece's own vector, and what each branch sees of it.
	seen := make([]float32, n*features)
	single := make([]float32, n*width)
	for t, piece := range cut {
		table, row := int(piece)%tables, int(piece)/tables
		for i, b := range m.table[table][row*width : (row+1)*width] {
			single[t*width+i] = float32(b)*w["scale"][table] + w["lo"][table]
		}
		copy(seen[t*features:], single[t*width:(t+1)*width])
	}
	m.convolve(seen, single, n)
	sum := make([]float32, features)
	for t := range n {
		row := seen[t*features : (t+1)*features]
		normalize(row, w["ln_g"], w["ln_b"])
		for i, x := range row {
			sum[i] += x
		}
	}
	mean := multiply(sum, w["cnn_W"], 1, width, nil)
	for i, b := range w["cnn_b"] {
		mean[i] = (mean[i] + b*float32(n)) / float32(math.Sqrt(float64(n)))
	}
	first := positive(multiply(mean, w["d0"], 1, narrow, nil))
	second := positive(multiply(first, w["d1"], 1, narrow, multiply(mean, w["p1"], 1, narrow, nil)))
	third := positive(multiply(second, w["d2"], 1, width, nil))
	made := multiply(third, w["d3"], 1, width, multiply(second, w["p3"], 1, width, nil))
	for i, x := range made {
		made[i] = float32(math.Tanh(float64(x)))
	}
	l := float32(max(length(made), math.Sqrt(tiny)))
	for i := range made {
		made[i] /= l
	}
	return made
}

// convolve writes what the branches see of the pieces' vectors.
func (m *Model) convolve(seen, single []float32, n int) {
	const all = 3 * branch
	projected := make([]float32, n*all)
	var scale, shift []float32
	for i, b := range branches {
		bias := repeat(m.weights["proj_b"+b.name], n)
		for t, row := range split(multiply(single, m.weights["proj"+b.name], n, branch, bias), n) {
			copy(projected[t*all+i*branch:], row)
		}
		scale, shift = append(scale, m.weights["ln_g"+b.name]...), append(shift, m.weights["ln_b"+b.name]...)
	}
	for _, row := range split(projected, n) {
		normalize(row, scale, shift)
	}
	for i, b := range branches {
		// Rows of zeros stand for what is before the first and after the last.
		padded := make([]float32, (n+b.span-1)*branch)
		own := padded[b.before*branch:][:n*branch]
		for t := range n {
			copy(own[t*branch:(t+1)*branch], projected[t*all+i*branch:])
		}
		for _, layer := range []string{"1_", "2_"} {
			made, weights := repeat(m.weights["b"+layer+b.name], n), m.weights["w"+layer+b.name]
			for k := range b.span {
				made = multiply(padded[k*branch:][:n*branch], weights[k*branch*branch:(k+1)*branch*branch], n, branch, made)
			}
			for t, x := range made {
				own[t] += max(x, 0)
			}
		}
		for t, row := range split(own, n) {
			copy(seen[t*features+width+i*branch:], row)
		}
	}
}

func repeat(row []float32, n int) (all []float32) {
	for range n {
		all = append(all, row...)
	}
	return all
}

// split gives the n rows of a matrix.
func split(matrix []float32, n int) [][]float32 {
	all := make([][]float32, n)
	for t := range all {
		all[t] = matrix[t*len(matrix)/n : (t+1)*len(matrix)/n]
	}
	return all
}

// multiply adds to c, or to zeros if it is nil, the product of a, of n rows, and b, of m columns. Four rows of b at a time are faster
// than one; the sizes of the model are multiples of four.
func multiply(a, b []float32, n, m int, c []float32) []float32 {
	if c == nil {
		c = make([]float32, n*m)
	}
	k := len(b) / m
	for i := range n {
		row := c[i*m:][:m]
		for l := 0; l < k; l += 4 {
			a0, a1, a2, a3 := a[i*k+l], a[i*k+l+1], a[i*k+l+2], a[i*k+l+3]
			b0, b1, b2, b3 := b[l*m:][:m], b[(l+1)*m:][:m], b[(l+2)*m:][:m], b[(l+3)*m:][:m]
			for j := range row {
				row[j] += a0*b0[j] + a1*b1[j] + a2*b2[j] + a3*b3[j]
			}
		}
	}
	return c
}

func positive(values []float32) []float32 {
	for i, x := range values {
		values[i] = max(x, 0)
	}
	return values
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
