package insights

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// hostLabel matches one label of a host name.
const hostLabel = `[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`

// vocabulary defines the enums and patterns that only the rules of these operations use.
var vocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"annotationKind": schema.AnnotationKinds(),
		"segmentScope":   schema.SegmentScopes(),
		"weekStart":      insights.WeekStarts(),
	},
	Patterns: map[string]rules.Pattern{
		"generation": {
			Match: func(text string) bool {
				n, err := strconv.Atoi(text)
				return err == nil && n > 0 && n <= schema.MaxKeyGeneration && text == strconv.Itoa(n)
			},
			Problem: fmt.Sprintf("must be a number from 1 to %d", schema.MaxKeyGeneration), Regexp: `^[1-9][0-9]{0,4}$`,
		},
		"keyHost": {
			Match: func(text string) bool { return schema.CanonicalHost(text) != "" },
			Problem: "must be the name of a host, such as docs.example.com, or *.example.com for every host below a " +
				"domain, " +
				"without a scheme, a port or a path; names of other scripts begin with xn--",
			Regexp: fmt.Sprintf(`^(?:\*\.%[1]s\.)?%[1]s(?:\.%[1]s)*$`, hostLabel),
		},
		"ownHost": {
			Match: func(text string) bool {
				return schema.CanonicalHost(text) != "" && !strings.HasPrefix(text, "*")
			},
			Problem: "must be the name of a host, such as docs.example.com, without a scheme, a port or a path; " +
				"names " +
				"of other scripts begin with xn--",
			Regexp: fmt.Sprintf(`^%[1]s(?:\.%[1]s)*$`, hostLabel),
		},
		"date": {
			Match:   func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil },
			Problem: "must be a date such as 2026-01-31", Format: "date",
		},
		"urlPath": rules.Matching(`^/[^\x00-\x1f\x7f]*$`, "must begin with / and have no control characters"),
		"pageId":  rules.Matching(`^[a-zA-Z0-9_-]+$`, "must be the id of a page"),
	},
}
