package schema

import "time"

// TranslationPending is the status of a translation whose first run has not ended yet.
const TranslationPending = "pending"

// TranslationRunning is the status of a translation with a run in progress. TranslationCompleted is the status of a
// translation whose last run has ended.
const (
	TranslationRunning   = "running"
	TranslationCompleted = "completed"
)

// TranslationStatuses returns the values of a translation's `status`.
func TranslationStatuses() []string {
	return []string{TranslationPending, TranslationRunning, TranslationCompleted}
}

// Translation is a space's copy in another language. Result identifies the copy. It is absent before the first run.
// LastRun is the state of the run that was requested last. It is absent before the first run. The published contract
// does not have LastRun.
type Translation struct {
	Object       string                 `json:"object"`
	ID           string                 `json:"id"`
	Status       string                 `json:"status" rules:"enum=translationStatus"`
	Source       TranslationSource      `json:"source"`
	Language     string                 `json:"language" rules:"enum=language"`
	Instructions Document               `json:"instructions"`
	CreatedAt    time.Time              `json:"createdAt"`
	UpdatedAt    time.Time              `json:"updatedAt"`
	Stats        TranslationStats       `json:"stats"`
	Result       *TranslationResult     `json:"result,omitempty"`
	LastRun      *TranslationLastRun    `json:"lastRun,omitempty"`
	Permissions  TranslationPermissions `json:"permissions"`
	URLs         LocationURLs           `json:"urls"`
}

// TranslationSource is the content that is translated.
type TranslationSource struct {
	Space    string `json:"space"`
	Language string `json:"language" rules:"enum=language"`
}

// TranslationStats has totals over all runs, and the numbers of the latest run. Durations are in seconds.
type TranslationStats struct {
	Runs              int32 `json:"runs"`
	TotalWords        int64 `json:"totalWords"`
	TotalPages        int64 `json:"totalPages"`
	TotalDuration     int64 `json:"totalDuration"`
	LatestRunDuration int64 `json:"latestRunDuration"`
	LatestPages       int64 `json:"latestPages"`
	LatestWords       int64 `json:"latestWords"`
}

// TranslationResult identifies the copy in the other language, with the revision of the copy after the last run.
type TranslationResult struct {
	Space    string `json:"space"`
	Revision string `json:"revision"`
}

// These are the states of a run. If a run fails, its job may retry it.
const (
	RunQueued  = "queued"
	RunRunning = "running"
	RunDone    = "done"
	RunFailed  = "failed"
)

// TranslationRunStates returns the values of a run's `state`.
func TranslationRunStates() []string { return []string{RunQueued, RunRunning, RunDone, RunFailed} }

// TranslationLastRun is the run that was requested last. If the run has failed, Reason says why.
type TranslationLastRun struct {
	State       string    `json:"state" rules:"enum=translationRunState"`
	Reason      string    `json:"reason,omitempty"`
	RequestedAt time.Time `json:"requestedAt"`
}

// TranslationRun is a run of a translation. Segments and Words are the numbers of segments and words that were sent to
// the translator. Pages is the number of pages that have changed in the copy. Duration is the time since the start of
// the first attempt, in seconds. Reports has notes for users. The response for a single run has the run's first
// reports, and lists of runs have no reports. ReportCount is the number of all reports.
type TranslationRun struct {
	Object      string              `json:"object"`
	ID          string              `json:"id"`
	State       string              `json:"state" rules:"enum=translationRunState"`
	Reason      string              `json:"reason,omitempty"`
	RequestedAt time.Time           `json:"requestedAt"`
	StartedAt   *time.Time          `json:"startedAt,omitempty"`
	FinishedAt  *time.Time          `json:"finishedAt,omitempty"`
	Segments    int64               `json:"segments"`
	Words       int64               `json:"words"`
	Pages       int64               `json:"pages"`
	Duration    *int64              `json:"duration,omitempty"`
	Revision    string              `json:"revision,omitempty"`
	ReportCount int64               `json:"reportCount"`
	Reports     []TranslationReport `json:"reports,omitempty"`
	URLs        LocationURLs        `json:"urls"`
}

// These are the kinds of reports.
const (
	// ReportCorrectionOutdated means that the source of a corrected segment has changed. The copy keeps the correction.
	ReportCorrectionOutdated = "correction-outdated"
	// ReportCorrectionRemoved means that the source of a corrected segment was deleted. The correction was deleted too.
	ReportCorrectionRemoved = "correction-removed"
	// ReportConflict means that the source and a user of the copy changed the same part in different ways. The copy
	// keeps its own version.
	ReportConflict = "conflict"
	// ReportTermMissing means that the translation of a segment does not contain a term of the glossary.
	ReportTermMissing = "term-missing"
	// ReportPlaceholderLost means that the translator lost marks or links of a segment. So the parts of the segment
	// were translated separately.
	ReportPlaceholderLost = "placeholder-lost"
	// ReportRefused means that the translator has refused a segment. The segment stays in the language of the source. A
	// reusable content also stays in this language if its translation is too long.
	ReportRefused = "refused"
)

// TranslationReportKinds returns the values of a report's `kind`.
func TranslationReportKinds() []string {
	return []string{
		ReportCorrectionOutdated, ReportCorrectionRemoved, ReportConflict, ReportTermMissing, ReportPlaceholderLost, ReportRefused,
	}
}

// TranslationReport is a result of a run that a user should check. Segment identifies the part of the page: `title`,
// `description`, or the key of a block and the part of the block. If the part belongs to a reusable content, Segment
// begins with the id of the content's file. Text is the beginning of the source text. It is absent if the caller may
// not read the source.
type TranslationReport struct {
	Kind    string `json:"kind" rules:"enum=translationReportKind"`
	Page    string `json:"page,omitempty"`
	Segment string `json:"segment,omitempty"`
	Text    string `json:"text,omitempty"`
}

// TranslationPermissions says which rights the caller has on a translation.
type TranslationPermissions struct {
	View bool `json:"view"`
	Edit bool `json:"edit"`
}

// Location returns the Location header of the response that creates the translation.
func (t Translation) Location() string { return t.URLs.Location }

// These are the operations on an entry of a glossary.
const (
	GlossaryInsert = "insert"
	GlossaryUpdate = "update"
	GlossaryDelete = "delete"
)

// GlossaryOperations returns the values of a glossary operation's `type`.
func GlossaryOperations() []string { return []string{GlossaryInsert, GlossaryUpdate, GlossaryDelete} }

// GlossaryEntry is a term in several languages. A translation into a language must use the term in this language.
type GlossaryEntry struct {
	Object       string            `json:"object"`
	ID           string            `json:"id"`
	Translations map[string]string `json:"translations"`
	CreatedAt    time.Time         `json:"createdAt"`
	UpdatedAt    time.Time         `json:"updatedAt"`
	URLs         LocationURLs      `json:"urls"`
}
