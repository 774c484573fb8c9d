package insights

import "github.com/octavo-docs/octavo/schema/sqltree"

// packed returns the expression for a text that contains several texts. The state of an aggregate such as argMin is
// much smaller and faster for one text than for a tuple of texts.
//
// The byte 255 separates the texts. Stored texts are valid UTF-8, in which this byte does not occur.
func packed(texts ...sqltree.Expr) sqltree.Expr {
	args := texts[:1:1]
	for _, text := range texts[1:] {
		args = append(args, separator(), text)
	}
	return sqltree.Call("concat", args...)
}

func separator() sqltree.Expr { return sqltree.Call("char", sqltree.Int(255)) }

// unpacked returns the expression for one of the texts in a packed text. The first text is number 1. Without a packed
// text, as in a session without page views, its value is "".
func unpacked(text sqltree.Expr, number int64) sqltree.Expr {
	return sqltree.Call("arrayElement", sqltree.Call("splitByChar", separator(), text), sqltree.Int(number))
}
