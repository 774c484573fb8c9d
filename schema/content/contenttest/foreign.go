package contenttest

import (
	_ "embed" // go:embed reads the cases
	"strings"
)

//go:embed foreign.txt
var foreign string

// Foreign has cases of Markdown with syntax of other tools: attributes, directives, components and HTML. The text file
// has the outline in separate lines, and the written form if it differs from the text.
var Foreign = casesOf(foreign)

func casesOf(text string) (cases []struct{ In, Outline, Out string }) {
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n######## case\n") {
		in, rest, _ := strings.Cut(part, "\n######## document\n")
		outline, out, _ := strings.Cut(rest, "\n######## written\n")
		cases = append(cases, struct{ In, Outline, Out string }{in, strings.ReplaceAll(outline, "\n", " "), out})
	}
	return cases
}
