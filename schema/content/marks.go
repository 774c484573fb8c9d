package content

import "github.com/octavo-docs/octavo/schema"

// Marks is a set of marks of a text. It contains only marks that have no data.
type Marks uint8

// These constants are the marks.
const (
	Bold Marks = 1 << iota
	Italic
	Strike
	Code
	Keyboard
	Superscript
	Subscript
)

// markNames has the names of the marks, in the order in which a leaf lists them.
var markNames = []struct {
	mark Marks
	name string
}{
	{Bold, "bold"}, {Italic, "italic"}, {Strike, "strikethrough"}, {Code, "code"}, {Keyboard, "keyboard"},
	{Superscript, "superscript"}, {Subscript, "subscript"},
}

// List returns the marks in the form in which a leaf lists them.
func (m Marks) List() []schema.Mark {
	list := []schema.Mark{}
	for _, row := range markNames {
		if m&row.mark != 0 {
			list = append(list, schema.Mark{Object: schema.ObjectMark, Type: row.name})
		}
	}
	return list
}

// MarksOf returns the marks of a leaf that have no data.
func MarksOf(list []schema.Mark) Marks {
	var m Marks
	for _, mark := range list {
		for _, row := range markNames {
			if row.name == mark.Type {
				m |= row.mark
			}
		}
	}
	return m
}
