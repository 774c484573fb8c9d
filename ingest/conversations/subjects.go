package conversations

// Subject is what clusters of different problems have in common.
type Subject struct {
	ID    string
	Title string
	Icon  string
}

// DefaultIcon is for clusters that show no subject.
const DefaultIcon = "comments"

// Subjects are the subjects that the lines of the lexicon are evidence for.
func Subjects() []Subject {
	return []Subject{
		{"billing", "Billing and payments", "credit-card"},
		{"login", "Signing in", "key"},
		{"account", "Accounts", "user"},
		{"members", "Members and invitations", "users"},
		{"permissions", "Permissions", "lock"},
		{"sharing", "Sharing", "share-nodes"},
		{"notifications", "Mail and notifications", "envelope"},
		{"mobile", "Mobile apps", "mobile"},
		{"collaboration", "Comments", "comment"},
		{"webhooks", "Webhooks", "bolt"},
		{"api", "API", "code"},
		{"git", "Git sync", "code-branch"},
		{"import", "Imports", "file-arrow-up"},
		{"export", "Exports", "file-arrow-down"},
		{"files", "Files and images", "image"},
		{"editor", "Editor", "pen"},
		{"performance", "Speed", "gauge"},
		{"search", "Search", "magnifying-glass"},
		{"publishing", "Publishing and review", "rocket"},
		{"domain", "Domains", "globe"},
		{"links", "Links", "link"},
		{"navigation", "Navigation", "list"},
		{"appearance", "Appearance", "palette"},
		{"integrations", "Integrations", "plug"},
		{"languages", "Languages", "language"},
		{"analytics", "Analytics", "chart-line"},
		{"security", "Security", "shield"},
		{"outage", "Availability", "triangle-exclamation"},
	}
}

// SubjectByID finds a subject; ok is false for an id that none has.
func SubjectByID(id string) (Subject, bool) {
	for _, s := range Subjects() {
		if s.ID == id {
			return s, true
		}
	}
	return Subject{}, false
}

// A subject must have this share of the evidence to be that of a cluster, and more to give it an icon.
const (
	themeShare = 0.3
	iconShare  = 0.5
)

// subjectOf finds the subject with the most evidence in a profile, and its share of all evidence.
func subjectOf(p Profile) (best Subject, share float64) {
	l := theLexicon()
	evidence, sum := map[string]float64{}, 0.0
	for _, term := range sortedKeys(p.Terms) {
		if thing, ok := cutMark(term); ok && l.subjects[thing] != "" {
			evidence[l.subjects[thing]] += p.Terms[term]
			sum += p.Terms[term]
		}
	}
	most := 0.0
	for _, s := range Subjects() {
		if evidence[s.ID] > most {
			best, most = s, evidence[s.ID]
		}
	}
	if sum == 0 {
		return Subject{}, 0
	}
	return best, most / sum
}
