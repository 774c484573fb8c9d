package intake

import "github.com/octavo-docs/octavo/schema/insights"

// unknownType returns the refusal of the current event, whose type this version does not know. If events of unknown
// types are refused individually, the refusal has no text, because no caller reads it.
func (d *decoder) unknownType() *insights.Refusal {
	if d.known {
		return unknownAlone
	}
	return d.fail(insights.UnknownType, "type", "must be one of "+wordList(insights.EventTypes))
}

var unknownAlone = &insights.Refusal{Reason: insights.UnknownType}

// refusedAlone skips and counts the current event, and returns nil, if the event's type is unknown and such events are
// refused individually. It ignores other errors of this event, because other members of the event may also be new. In
// all other cases it returns the reason for refusing the whole request.
func (d *decoder) refusedAlone(err *insights.Refusal) *insights.Refusal {
	if !d.known || err.Reason == insights.NotJSON {
		return err
	}
	d.pos, d.scratch = d.current, d.scratch[:0]
	if !d.take('{') {
		return err
	}
	unknown := false
	for first := true; ; first = false {
		name, more, broken := d.member(first)
		if broken != nil {
			return broken
		}
		if !more {
			break
		}
		if name != "type" || d.peek() != '"' {
			if !d.skip(3) {
				return d.syntax("")
			}
			continue
		}
		word, ok := d.scanner.str()
		if !ok {
			return d.syntax("")
		}
		if _, known := insights.EventTypes.Code(word); !known && word != "" && len(word) <= maxID {
			unknown = true
		}
	}
	if !unknown {
		return err
	}
	d.unknown++
	return nil
}
