package schema

import (
	"slices"
	"time"
)

// Impact says how badly an issue hurts: low is little friction, medium blocks in part or has a workaround, high blocks and
// has none.
type Impact string

// The impacts, from the lowest.
const (
	ImpactLow    Impact = "low"
	ImpactMedium Impact = "medium"
	ImpactHigh   Impact = "high"
)

// Impacts lists the impacts from the lowest to the highest.
func Impacts() []Impact { return []Impact{ImpactLow, ImpactMedium, ImpactHigh} }

// Rank orders the impacts: 0 is the lowest, an unknown impact has -1.
func (i Impact) Rank() int { return slices.Index(Impacts(), i) }

// SourceEmail is the source of conversations that a user ingests. Those that an integration ingests have a source of the
// form `integration:<name>:<source>`.
const SourceEmail = "email"

// Who speaks in a part of a conversation.
const (
	RolePartUser       = "user"
	RolePartAssistant  = "assistant"
	RolePartTeamMember = "team-member"
)

// PartRoles are the values of a part's `role`.
func PartRoles() []string { return []string{RolePartUser, RolePartAssistant, RolePartTeamMember} }

// PartTypes are the values of a part's `type`.
func PartTypes() []string { return []string{"message"} }

// Conversation is an exchange of a user with support people or an assistant. Impact and ProcessedAt are absent until its
// issues are found and clustered; the impact is the highest of its issues.
type Conversation struct {
	Object      string           `json:"object"`
	ID          string           `json:"id"`
	Subject     string           `json:"subject,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
	ProcessedAt *time.Time       `json:"processedAt,omitempty"`
	Source      string           `json:"source"`
	Impact      Impact           `json:"impact,omitempty" rules:"enum=impact"`
	URLs        ConversationURLs `json:"urls"`
}

// ConversationURLs are the addresses of a conversation. Source is where it came from.
type ConversationURLs struct {
	Location string `json:"location"`
	Source   string `json:"source,omitempty"`
}

// ConversationPart is one message of a conversation; Body is Markdown or HTML.
type ConversationPart struct {
	Type string `json:"type" rules:"enum=partType"`
	Role string `json:"role" rules:"enum=partRole"`
	Body string `json:"body"`
}

// ConversationMetadata is what a client said about a conversation when it ingested it.
type ConversationMetadata struct {
	URL        *string           `json:"url,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	CreatedAt  *time.Time        `json:"createdAt,omitempty"`
}

// FullConversation is a conversation with its messages.
type FullConversation struct {
	Conversation Conversation         `json:"conversation"`
	Parts        []ConversationPart   `json:"parts"`
	Metadata     ConversationMetadata `json:"metadata"`
}

// ConversationIssue is one thing that a user struggled with in a conversation. Summary is the text of Details, for clients
// of the published schema that has no details. Cluster is absent until the issue is clustered.
type ConversationIssue struct {
	Object       string       `json:"object"`
	ID           string       `json:"id"`
	Title        string       `json:"title"`
	Details      Document     `json:"details"`
	Summary      string       `json:"summary"`
	Impact       Impact       `json:"impact" rules:"enum=impact"`
	CreatedAt    time.Time    `json:"createdAt"`
	IngestedAt   time.Time    `json:"ingestedAt"`
	Conversation string       `json:"conversation"`
	Cluster      string       `json:"cluster,omitempty"`
	URLs         LocationURLs `json:"urls"`
}

// LocationURLs are the addresses of a resource that the API alone shows.
type LocationURLs struct {
	Location string `json:"location"`
}

// IssueInConversation is an issue with the conversation that it is from.
type IssueInConversation struct {
	Issue        ConversationIssue `json:"issue"`
	Conversation Conversation      `json:"conversation"`
}

// PulseWeeks is the number of weeks that a cluster's pulse shows: three months.
const PulseWeeks = 13

// IssuesCluster is issues of many conversations about the same thing. WeeklyPulse counts the issues of each of the last
// PulseWeeks weeks, the oldest first; Sources counts conversations by where they came from.
type IssuesCluster struct {
	Object      string           `json:"object"`
	ID          string           `json:"id"`
	Label       string           `json:"label"`
	CreatedAt   time.Time        `json:"createdAt"`
	UpdatedAt   time.Time        `json:"updatedAt"`
	Icon        string           `json:"icon"`
	Summary     Document         `json:"summary"`
	Muted       bool             `json:"muted"`
	Impact      Impact           `json:"impact" rules:"enum=impact"`
	WeeklyPulse [PulseWeeks]int  `json:"weeklyPulse"`
	Sources     map[string]int64 `json:"sources"`
	Stats       ClusterStats     `json:"stats"`
	URLs        ClusterURLs      `json:"urls"`
}

// ClusterStats count what is in a cluster. Octavo has no tasks; the published schema requires their counts.
type ClusterStats struct {
	Issues         int32 `json:"issues"`
	Conversations  int32 `json:"conversations"`
	TasksTotal     int32 `json:"tasksTotal"`
	TasksBacklog   int32 `json:"tasksBacklog"`
	TasksStarted   int32 `json:"tasksStarted"`
	TasksCompleted int32 `json:"tasksCompleted"`
	TasksCancelled int32 `json:"tasksCancelled"`
}

// ClusterURLs are the addresses of a cluster.
type ClusterURLs struct {
	Location string `json:"location"`
	App      string `json:"app"`
}

// ClusterOrders are the values of the cluster list's `orderBy`.
func ClusterOrders() []string {
	return []string{"updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"}
}
