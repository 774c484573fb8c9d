package intake

import (
	"github.com/octavo-docs/octavo/schema/insights"
)

// targetNames has the string members of all kinds of content reference, in their order in the canonical text.
var targetNames = [...]string{"anchor", "collection", "file", "page", "reusableContent", "space", "spec", "tag", "url", "user"}

const targetURL = 8

// target is a content reference that is being read. Its members have the order of targetNames.
type target struct {
	kind    insights.Code
	members [len(targetNames)]string
}

// targetKinds says for each kind, by its code, which members of targetNames it has, and which members it requires.
var targetKinds = func() []struct{ has, required [len(targetNames)]bool } {
	list := make([]struct{ has, required [len(targetNames)]bool }, len(insights.LinkKinds.Words())+1)
	for code := range list {
		required, names := insights.ContentRefMembers(insights.Code(code))
		for n, name := range names {
			for i := range targetNames {
				if targetNames[i] == name {
					list[code].has[i] = true
					list[code].required[i] = n < required
				}
			}
		}
	}
	return list
}()

func (d *decoder) link() *insights.Refusal {
	seen := false
	err := d.members("link", func(d *decoder, name string) *insights.Refusal {
		switch name {
		case "target":
			if d.peek() == 'n' {
				return d.missing("link.target")
			}
			seen = true
			d.target = target{}
			return d.members("link.target", (*decoder).targetMember)
		case "position":
			return d.enum(&d.event.LinkPosition, insights.LinkPositions, "link.position")
		}
		return d.ignore()
	})
	switch {
	case err != nil:
		return err
	case !seen:
		return d.missing("link.target")
	case d.event.LinkPosition == 0:
		return d.missing("link.position")
	case d.target.kind == 0:
		return d.missing("link.target.kind")
	}
	return d.canonical()
}

func (d *decoder) targetMember(name string) *insights.Refusal {
	if name == "kind" {
		return d.enum(&d.target.kind, insights.LinkKinds, "link.target.kind")
	}
	for i := range targetNames {
		if targetNames[i] == name {
			return d.str(&d.target.members[i], targetFields[i], maxText)
		}
	}
	return d.ignore()
}

var targetFields = func() (list [len(targetNames)]string) {
	for i := range targetNames {
		list[i] = "link.target." + targetNames[i]
	}
	return list
}()

// canonical writes the target in the form of insights.ParseContentRef, so that equal targets have equal texts.
// TestCanonicalTarget compares its result with insights.ParseContentRef.
func (d *decoder) canonical() *insights.Refusal {
	kind := &targetKinds[d.target.kind]
	from := len(d.scratch)
	d.scratch = append(d.scratch, `{"kind":"`...)
	d.scratch = append(d.scratch, insights.LinkKinds.Word(d.target.kind)...)
	d.scratch = append(d.scratch, '"')
	for i, value := range d.target.members {
		switch {
		case !kind.has[i]:
		case value != "":
			d.scratch = append(d.scratch, ',', '"')
			d.scratch = append(d.scratch, targetNames[i]...)
			d.scratch = append(d.scratch, '"', ':')
			d.scratch = insights.AppendText(d.scratch, value)
		case kind.required[i]:
			return d.missing(targetFields[i])
		}
	}
	d.scratch = append(d.scratch, '}')
	e := &d.event
	e.LinkTarget, e.LinkKind = text(d.scratch[from:]), d.target.kind
	if kind.has[targetURL] {
		e.LinkDomain = d.host(d.target.members[targetURL], false)
	}
	return nil
}
