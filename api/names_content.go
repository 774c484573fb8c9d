package api

import (
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/tree"
)

func init() {
	enums["changeRequestStatus"] = schema.ChangeRequestStatuses()
	enums["settableChangeRequestStatus"] = schema.SettableChangeRequestStatuses()
	enums["changeRequestOrder"] = []string{orderByUpdate, orderByCreation}
	enums["mergeResult"] = schema.MergeResults()
	enums["revisionType"] = schema.RevisionTypes()
	enums["pageKind"] = tree.Kinds()
	enums["evaluated"] = []string{"true", "false", "deterministic-only"}
	enums["contentOperation"] = contentOperationNames()
	patterns["pageSlug"] = form{match: tree.ValidSlug, problem: "must be usable in a path: without spaces, slashes, ?, # and %", regexp: `^[^\s/?#%\\]*$`}
	patterns["mediaType"] = matching(`^[a-zA-Z0-9!#$&^_.+-]+/[a-zA-Z0-9!#$&^_.+-]+(?:; ?charset=[a-zA-Z0-9-]+)?$`, "must be a media type such as image/png")
	patterns["title"] = form{match: notBlank, problem: "must not be blank", regexp: `\S`}
}

// notBlank wants a character that is to be seen.
func notBlank(text string) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r > ' ' && r != '\u00a0' && r != '\u3000' {
			return true
		}
		text = text[size:]
	}
	return false
}
