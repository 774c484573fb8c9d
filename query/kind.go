package query

// Report is a kind of report.
type Report string

// These are the reports that have a request.
const (
	Aggregate   Report = "aggregate"
	Funnel      Report = "funnel"
	Retention   Report = "retention"
	Transitions Report = "transitions"
	Pages       Report = "pages"
)

// Reports lists the reports that have a request.
func Reports() []Report { return []Report{Aggregate, Funnel, Retention, Transitions, Pages} }

// ReportWords returns the words of the reports that have a request.
func ReportWords() (words []string) {
	for _, of := range Reports() {
		words = append(words, string(of))
	}
	return words
}

// kindSegments is the report that has no request: see [Service.VisitorSegments].
const kindSegments Report = "segments"

// kinds are the kinds of queries, for metrics: a closed set.
func kinds() []Report { return append(Reports(), kindSegments) }
