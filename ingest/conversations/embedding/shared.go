package embedding

import (
	"sync"
	"weak"
)

// Shared opens a model when it is needed, and lets go of it once nobody uses it: it takes about 90 MB. It is safe for concurrent use.
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
