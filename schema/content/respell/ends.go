package respell

import (
	"strings"

	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/diff"
)

// Ends returns an edited text with the line breaks of the original text, for example CR LF. The lines of `edited` must
// end in line feeds. An unchanged line has the same bytes as in the original text. Any other line gets the line break
// of the original line that it replaces or follows.
func Ends(original, edited string) string {
	if !strings.Contains(original, "\r") && content.Clean(original) == original {
		return edited
	}
	old, is := linesWithEnds(original), strings.SplitAfter(edited, "\n")
	names, had := make([]string, len(is)), make([]string, len(old))
	for i, line := range is {
		is[i] = strings.TrimSuffix(line, "\n")
		names[i] = content.Clean(is[i])
	}
	for i, line := range old {
		had[i] = content.Clean(line.text)
	}
	partners := diff.Match(names, had)
	limits := make([]int, len(is)) // for each line, the index in old of the next unchanged line
	for i, limit := len(is)-1, len(old); i >= 0; i-- {
		if partners[i] != diff.None {
			limit = partners[i]
		}
		limits[i] = limit
	}
	var b strings.Builder
	next, end := 0, "\n" // the first unused old line, and the line end before it
	if len(old) > 0 && old[0].end != "" {
		end = old[0].end
	}
	for i, text := range is {
		limit := limits[i]
		if partners[i] != diff.None {
			next = partners[i]
			text, limit = old[next].text, next+1
		}
		if next < limit {
			if next++; old[next-1].end != "" {
				end = old[next-1].end
			}
		}
		if i == len(is)-1 {
			end = "" // the text after the last line feed has no line break
		}
		if text == "" && end == "\n" && strings.HasSuffix(b.String(), "\r") {
			// With a line feed, the last carriage return and this line's end would be read as one line break. So this
			// empty line ends with a carriage return.
			end = "\r"
		}
		b.WriteString(text + end)
	}
	return b.String()
}

// endedLine is a line and its line break. The line break of the last line is empty.
type endedLine struct{ text, end string }

func linesWithEnds(text string) (lines []endedLine) {
	for {
		at := strings.IndexAny(text, "\r\n")
		if at < 0 {
			return append(lines, endedLine{text: text})
		}
		size := 1
		if strings.HasPrefix(text[at:], "\r\n") {
			size = 2
		}
		lines, text = append(lines, endedLine{text[:at], text[at : at+size]}), text[at+size:]
	}
}
