package query

import (
	"strconv"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// extra is how one extra parameter of columns is read, once for all columns
// that take it.
type extra struct {
	name insights.Extra
	// required extras have no meaning when they are absent.
	required bool
	read     func(n node, to *insights.Arguments) error
	absent   func(to *insights.Arguments)
	text     func(insights.Arguments) string
}

const (
	maxPrecision = 15
	maxClaim     = 1024
)

var extras = []extra{
	{
		name: insights.ExtraInterval,
		read: func(n node, to *insights.Arguments) error {
			word, err := n.text()
			if err != nil {
				return n.invalid("must be a string", intervalNames()...)
			}
			for _, i := range insights.Intervals {
				if i.String() == word {
					to.Interval = i
					return nil
				}
			}
			return n.invalid(unknown("an interval", word, intervalNames()), intervalNames()...)
		},
		absent: func(*insights.Arguments) {},
		text:   func(a insights.Arguments) string { return a.Interval.String() },
	},
	{
		name: insights.ExtraPrecision,
		read: func(n node, to *insights.Arguments) (err error) {
			to.Precision, err = n.integer(0, maxPrecision)
			return err
		},
		absent: func(to *insights.Arguments) { to.Precision = insights.DefaultPrecision },
		text:   func(a insights.Arguments) string { return strconv.Itoa(a.Precision) },
	},
	{
		name: insights.ExtraClaim, required: true,
		read: func(n node, to *insights.Arguments) (err error) {
			if to.Claim, err = n.text(); err != nil {
				return err
			}
			if to.Claim == "" || len(to.Claim) > maxClaim {
				return n.invalid("must be a claim's name of 1 to " + strconv.Itoa(maxClaim) + " bytes")
			}
			if to.Claim == insights.ClaimTypes {
				return n.invalid("is reserved: no claim has this name")
			}
			return nil
		},
		text: func(a insights.Arguments) string { return strconv.Quote(a.Claim) },
	},
}

var extraNames = func() []string {
	var names []string
	for _, e := range extras {
		names = append(names, string(e.name))
	}
	return names
}()

func intervalNames() []string {
	names := make([]string, len(insights.Intervals))
	for i, w := range insights.Intervals {
		names[i] = w.String()
	}
	return names
}

func extraOf(name insights.Extra) *extra {
	for i := range extras {
		if extras[i].name == name {
			return &extras[i]
		}
	}
	return nil
}

func extraText(r ref) string { return extraOf(r.column.Extra).text(r.args) }

// resolveExtras reads the column's own extra and refuses the others. named
// reports whether the request gave it.
func resolveExtras(c columnRequest, column *insights.Column, to *insights.Arguments) (named bool, err error) {
	for _, name := range extraNames {
		n, ok := c.extras[name]
		if !ok || name == string(column.Extra) {
			continue
		}
		return false, n.invalid("is not a parameter of the column " + column.Name)
	}
	e := extraOf(column.Extra)
	if e == nil {
		return true, nil
	}
	n, ok := c.extras[string(e.name)]
	switch {
	case ok:
		return true, e.read(n, to)
	case e.required:
		return false, schema.Invalid(at(c.path, string(e.name)), "is required by the column "+column.Name)
	}
	e.absent(to)
	return false, nil
}
