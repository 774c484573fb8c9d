package join

import (
	"bytes"
	"errors"
	"testing"
)

func same(n ref) ref { return n }

func TestValues(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"null": "null", " 12 ": "12", "-1.5": "-1.5", "/Name#20x": "/Name#20x", "12 0 R": "12 0 R",
		"[1 2 0 R 3 4]": "[1 2 0 R 3 4]",
		"[1 0 2 0 R]":   "[1 0 2 0 R]", "<</A(a)/B<4142>/C[]>>": "<</A (a)/B <4142>/C []>>",
		`(a\)b(c)\\)`: `(a\)b(c)\\)`, "% note\n[ ]": "[]", "<< /A << /B [ << >> ] >> >>": "<</A <</B [<<>>]>>>>",
	} {
		v, err := (&parser{from: []byte(in)}).value(0)
		if got := string(appendValue(nil, v, same)); err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "(", "<", "<<", "[", "]", ">>", "<</A>>", "<<1 2>>", "(a\\", "[1", "<</A 1", ")"} {
		if v, err := (&parser{from: []byte(in)}).value(0); !errors.Is(err, errForm) {
			t.Errorf("%q is %v, %v", in, v, err)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"()": "", "(a(b))": "a(b)", `(\(\)\\\n\101\7z)`: "()\\\nA\az", "(a\\\nb)": "ab", "<41 42>": "AB",
		"<4>": "@", "<4x>": "",
	} {
		if got := string(text(in).bytes()); got != want {
			t.Errorf("%s stands for %q, want %q", in, got, want)
		}
	}
	if got := written([]byte("a)\x00")).bytes(); string(got) != "a)\x00" {
		t.Errorf("%q", got)
	}
}

// FuzzValue reads a value and writes it. If the written value is read, it must be the same.
func FuzzValue(f *testing.F) {
	for _, in := range []string{"<</A (x)/B [1 0 R <41>]>>", "[1 2 3 0 R]", `(a\)`, "<<<<", "[[[[", "1 0", "/A/B"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := (&parser{from: in}).value(0)
		if err != nil {
			return
		}
		once := appendValue(nil, v, same)
		again, err := (&parser{from: once}).value(0)
		if twice := appendValue(nil, again, same); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q became %q and %q, %v", in, once, twice, err)
		}
	})
}

// FuzzOpen checks that input which is not a PDF, or is a PDF of another form, is refused.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("%PDF-1.7\n1 0 obj\n<</Pages 2 0 R>>\nendobj\nxref\n0 2\n0000000000 65535 f \n0000000009 00000 n \n" +
		"trailer\n<</Root 1 0 R>>\nstartxref\n44\n%%EOF"))
	f.Add([]byte("startxref\n1\n%%EOF"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := Open(bytes.NewReader(in), int64(len(in)))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Join(&out, []*Part{p, p}); err == nil && out.Len() == 0 {
			t.Error("nothing was written")
		}
	})
}
