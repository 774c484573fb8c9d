package typst_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	reader "github.com/ledongthuc/pdf"
)

// typeset reports, for each formula, whether the renderer converted it to mathematics. The document has one sheet for
// each formula, whose height shows the result.
func typeset(t *testing.T, formulas []string) []bool {
	t.Helper()
	list, err := json.Marshal(formulas)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = renderer.Render(t.Context(), func(send func(string, []byte) error) error {
		if err := send("formulas.json", list); err != nil {
			return err
		}
		return send("main.typ", []byte(`#show math.equation: set text(font: "Noto Sans Math")
#for m in json("typeset.json") {
  if m == none { page(height: 100pt)[TeX] } else { page(height: 300pt, math.equation(block: true, eval(m, mode: "math"))) }
}`))
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if r.NumPage() != len(formulas) {
		t.Fatalf("%d sheets for %d formulas", r.NumPage(), len(formulas))
	}
	made := make([]bool, len(formulas))
	for i := range made {
		made[i] = r.Page(i+1).V.Key("MediaBox").Index(3).Float64() > 200
	}
	return made
}

func TestFormulas(t *testing.T) {
	t.Parallel()
	formulas := []string{
		`a^2 + b^2 = c^2`, `\frac{a}{b}`, `\frac{-b \pm \sqrt{b^2-4ac}}{2a}`, `\sqrt[3]{x}`, `\begin{pmatrix}a & b \\ c & d\end{pmatrix}`,
		`\begin{bmatrix}a & b\end{bmatrix}`, `\begin{cases}a & x > 0 \\ b & \text{otherwise}\end{cases}`,
		`\begin{aligned}a &= b \\ &= c\end{aligned}`, `\sum_{i=1}^n i`, `\int_0^\infty e^{-x^2}\,dx`, `\text{日本語} x`, `\text{"quoted"}`,
		`\#x`, `\operatorname{foo}(x)`, `\operatorname*{argmax}_x f`, `\textcolor{red}{x}`, `\left(\frac12\right)`, `x \quad \hspace{1em} y`,
		`\begin{array}{c|c}a & b\end{array}`, `\mathbb{R} \mathcal{L} \mathbf{x}`, `\hat{x} \vec v \overline{ab}`, `\lim_{x \to 0} \sin x`,
		`\binom{n}{k}`, `\alpha \leq \beta \neq \Gamma \in \emptyset`, `x % a comment`, `\left\{x\right\}`, `\cancel{x}`, `\stackrel{a}{=}`,
		`\overbrace{a}^{b}`, `f'(x)`, `A \Rightarrow B \iff C`,
	}
	for i, made := range typeset(t, formulas) {
		if !made {
			t.Errorf("%s is shown as TeX", formulas[i])
		}
	}
}

// TestFormulasAreNoCode sends hostile TeX. The compiler receives only mathematics, and the renderer makes the PDF.
func TestFormulasAreNoCode(t *testing.T) {
	t.Parallel()
	formulas := []string{
		"", " ", `\unknown`, `\frac{`, `}`, `\std.panic(1)`, `#panic()`, `x #panic()`, `\href{javascript:1}{x}`, `\def\a{b}\a`, "$ #panic() $",
		"`#panic()`", `@x`, `\color{#panic()}x`, `\textcolor{red, #panic()}{x}`, `\textcolor{nocolor}{x}`, `\hspace{1em)#panic(}x`,
		`\hspace{9999em}x`, `\constructor`, `\__proto__`, `\begin{#panic()}x\end{#panic()}`,
		strings.Repeat("{", 900) + strings.Repeat("}", 900), strings.Repeat(`\frac{`, 200) + "a" + strings.Repeat("}{b}", 200),
		strings.Repeat(`\frac`, 40) + strings.Repeat("1", 41), strings.Repeat(`\sqrt`, 60) + "1", strings.Repeat("√", 1000) + "x",
		strings.Repeat("a+", 2000), strings.Repeat(`\left(`, 100) + strings.Repeat(`\right)`, 100),
	}
	for i, made := range typeset(t, formulas) {
		if made {
			t.Errorf("%.80q is evaluated", formulas[i])
		}
	}
	// These formulas may be shown as mathematics, but must not be executed. `typeset` checks that the document has
	// exactly one sheet for each formula.
	typeset(t, []string{
		`\begin{array}{c#panic()}x\end{array}`, `\text{"#panic()"}`, `\text{" #panic() "}`, `\text{\"#panic()}`, `\text{a\\"#panic()\\"}`, `\text{\}#panic()}`, `\text{#panic()}`,
		`\operatorname{"); #panic()}`, `\operatorname{")#panic()("}`, `\operatorname{foo\}`, `\mathrm{"#panic()"}`, `\text{\#pagebreak()}`,
		`\\#panic()`, `\#panic()`, `\\\#panic()`, `std.panic(1)`, `s\text{td}.panic(1)`, `\text{$}#panic()\text{$}`, `\text{]}`, `\text{$]#panic()}`,
		`\textcolor{red}{$]#panic()[$}`, "x%\n#panic()", `a//b`, `a/*b`, `*/ #panic()`, "\\text{\u201d#panic()}", `\text{\u{23}panic()}`,
		"x\u0000#panic()", "x\u2028#panic()", strings.Repeat(`x^`, 100) + "x", strings.Repeat("(", 500), strings.Repeat("|", 900),
		strings.Repeat("x'", 500), strings.Repeat("⌈", 500), strings.Repeat(`\{`, 500),
	})
}
