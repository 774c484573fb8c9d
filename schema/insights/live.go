package insights

import "fmt"

const (
	// LiveTop is the number of pages, paths, sources and countries of a live answer.
	LiveTop = 10
	// liveTitles bounds the pairs of a path and a title of a live answer. A path has several titles if they change.
	liveTitles = 5 * LiveTop
)

// LiveQuery is a part of a live answer.
type LiveQuery struct {
	// Name is the member of the answer.
	Name string
	// Active means that the range is the time within which a visitor counts as active.
	Active bool
	// Members are members of an aggregate request, without range.
	Members string
}

// LiveQueries returns the parts of a live answer. Every program counts as an agent.
func LiveQueries() []LiveQuery {
	const (
		perMinute = `"fill":true,"groupBy":[{"column":"datetime","interval":"minute"}],"select":[{"column":"datetime"},`
		ofPeople  = `"where":[{"column":"visitorBot","values":[""]}]`
		ofAgents  = `"where":[{"column":"visitorBot","operator":"notIn","values":[""]}]`
	)
	top := func(column string) string {
		return fmt.Sprintf(`"groupBy":[{"column":%[1]q}],"select":[{"column":%[1]q},{"column":"visitorsCount"},`+
			`{"column":"eventsCount"}],"limit":%[2]d,"order":{"by":{"column":"visitorsCount"},"direction":"desc"}`,
			column, LiveTop)
	}
	titles := fmt.Sprintf(`"groupBy":[{"column":"urlPath"},{"column":"pageTitle"}],"select":[{"column":"urlPath"},`+
		`{"column":"pageTitle"},{"column":"visitorsCount"}],"where":[{"column":"pageTitle","operator":"notIn",`+
		`"values":[null]}],"limit":%d,"order":{"by":{"column":"visitorsCount"},"direction":"desc"}`, liveTitles)
	return []LiveQuery{
		{"active", true, `"select":[{"column":"peopleCount"}],` + ofPeople},
		{"activeAgents", true, `"select":[{"column":"visitorsCount"}],` + ofAgents},
		{"events", false, perMinute + `{"column":"eventsCount"}]`},
		{"people", false, perMinute + `{"column":"peopleCount"}],` + ofPeople},
		{"agents", false, perMinute + `{"column":"visitorsCount"}],` + ofAgents},
		{"pages", false, top("page")},
		{"paths", false, top("urlPath")},
		{"titles", false, titles},
		{"sources", false, top("referrerDomain")},
		{"countries", false, top("visitorGeoCountry")},
	}
}
