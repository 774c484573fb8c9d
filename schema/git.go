package schema

import (
	"net/url"
	"path"
	"strings"
	"time"
)

// GitSyncState is the repository with which a space is synchronized.
type GitSyncState struct {
	RepoName             string     `json:"repoName,omitempty"`
	InstallationProvider string     `json:"installationProvider,omitempty"`
	Integration          string     `json:"integration,omitempty"`
	URL                  string     `json:"url,omitempty"`
	UpdatedAt            *time.Time `json:"updatedAt,omitempty"`
}

// GitOperation is an import or an export of a space. It is created when a client or a change requests it.
type GitOperation struct {
	Object    string    `json:"object"`
	ID        string    `json:"id"`
	Kind      string    `json:"kind" rules:"enum=gitOperationKind"`
	State     string    `json:"state" rules:"enum=gitOperationState"`
	Reason    string    `json:"reason,omitempty"`
	URL       string    `json:"url"`
	Ref       string    `json:"ref"`
	Timestamp time.Time `json:"timestamp"`
	CreatedAt time.Time `json:"createdAt"`
	// Commit is the commit that was imported or pushed. Revision is the revision that the import created, or the
	// revision that was exported.
	Commit     string     `json:"commit,omitempty"`
	CommitURL  string     `json:"commitURL,omitempty"`
	Revision   string     `json:"revision,omitempty"`
	FinishedAt *time.Time `json:"finishedAt,omitempty"`
	// NextAttemptAt is the earliest time of the next attempt, if the operation is in the state `retrying`.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// Progress is the current or final progress of an operation.
	Progress *GitProgress `json:"progress,omitempty"`
	// ChangeRequest is the change request that an import created or updated. If an export waits, it is the change
	// request that must be closed first. If an operation is queued, WaitsFor is the operation that must end first. In
	// both cases, Reason tells users what the operation waits for.
	ChangeRequest string `json:"changeRequest,omitempty"`
	WaitsFor      string `json:"waitsFor,omitempty"`
	// AllowedBy is the reason why an import changed the space although the space has merge rules.
	AllowedBy string `json:"allowedBy,omitempty" rules:"enum=gitAllowedBy"`
	// Notes lists the files that were left out or changed.
	Notes []GitNote `json:"notes,omitempty"`
}

// GitProgress is the progress of a step of an operation: the number of finished pages or files, and their total.
type GitProgress struct {
	Step  string `json:"step" rules:"enum=gitStep"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// GitBranch is a branch of a repository, and a folder in the branch. If the folder is absent, all folders of the branch
// are meant.
type GitBranch struct {
	URL                  string  `json:"url"`
	Ref                  string  `json:"ref"`
	RepoProjectDirectory *string `json:"repoProjectDirectory,omitempty"`
}

// Covers reports whether the repository, the branch and the folder of an operation belong to b.
func (b GitBranch) Covers(address, ref string, folder *string) bool {
	return b.URL == address && b.Ref == ref &&
		(b.RepoProjectDirectory == nil || GitFolder(b.RepoProjectDirectory) == GitFolder(folder))
}

// SameRepository reports whether two addresses lead to the same repository.
func SameRepository(a, b string) bool { return a != "" && plainRepository(a) == plainRepository(b) }

func plainRepository(address string) string {
	return strings.TrimSuffix(strings.TrimRight(address, "/"), ".git")
}

// GitFolder returns the canonical form of a folder's path in a repository. It returns "" for the root.
func GitFolder(folder *string) string { return strings.Trim(path.Clean("/"+Or(folder, "")), "/") }

// GitNote is a note for users about a file of a repository.
type GitNote struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// GitParameters are the options of an import or an export, without the repository and the branch. They are stored for
// the job that runs the operation. No response contains them.
type GitParameters struct {
	CommitMessage        *string `json:"commitMessage,omitempty"`
	RepoCacheID          *string `json:"repoCacheID,omitempty"`
	RepoTreeURL          *string `json:"repoTreeURL,omitempty"`
	RepoCommitURL        *string `json:"repoCommitURL,omitempty"`
	RepoProjectDirectory *string `json:"repoProjectDirectory,omitempty"`
	Force                *bool   `json:"force,omitempty"`
	Standalone           *bool   `json:"standalone,omitempty"`
}

// These are the kinds, the states and the steps of Git operations.
const (
	GitImport = "import"
	GitExport = "export"

	GitQueued  = "queued"
	GitRunning = "running"
	// GitWaiting is the state of an export that waits until a change request with an import of the same branch is
	// closed.
	GitWaiting = "waiting"
	GitDone    = "done"
	GitFailed  = "failed"
	GitSkipped = "skipped"
	// GitRetrying is the state of an operation that failed and will be tried again. If a later operation is completed
	// first, the state becomes GitSuperseded, which is final.
	GitRetrying   = "retrying"
	GitSuperseded = "superseded"
	GitCancelled  = "cancelled"

	// GitFetching, GitPages, GitFiles and GitPushing are the steps of an operation. The operation fetches the
	// repository, reads or writes pages, stores files, and pushes the commit.
	GitFetching = "fetch"
	GitPages    = "pages"
	GitFiles    = "files"
	GitPushing  = "push"

	GitBypass  = "bypass"
	GitTrusted = "trusted"
)

// GitEnums returns the enumerations of Git. The keys are the names that rules use.
func GitEnums() map[string][]string {
	return map[string][]string{
		"gitProvider":      {"github", "gitlab"},
		"gitOperationKind": {GitImport, GitExport},
		"gitOperationState": {
			GitQueued, GitRunning, GitRetrying, GitWaiting, GitDone, GitFailed, GitSkipped, GitSuperseded, GitCancelled,
		},
		"gitStep":      {GitFetching, GitPages, GitFiles, GitPushing},
		"gitAllowedBy": {GitBypass, GitTrusted},
	}
}

// GitOver reports whether a state is final.
func GitOver(state string) bool {
	switch state {
	case GitDone, GitFailed, GitSkipped, GitSuperseded, GitCancelled:
		return true
	}
	return false
}

// WithoutCredentials returns an address without its user and password. It returns "" if the text is not an address.
func WithoutCredentials(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// RepoName returns the owner and the name of the repository at an address, for example owner/name.
func RepoName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.Trim(path.Clean("/"+u.Path), "/"), ".git")
}
