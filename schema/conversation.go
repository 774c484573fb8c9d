package schema

import (
	"slices"
	"time"
)

// Impact is the severity of an issue. An issue of low impact causes little friction. An issue of medium impact partly
// blocks the user, or has a workaround. An issue of high impact blocks the user and has no workaround.
type Impact string

// These are the impacts. The lowest impact comes first.
const (
	ImpactLow    Impact = "low"
	ImpactMedium Impact = "medium"
	ImpactHigh   Impact = "high"
)

// Impacts lists the impacts from the lowest to the highest.
func Impacts() []Impact { return []Impact{ImpactLow, ImpactMedium, ImpactHigh} }

// Rank returns the position of an impact in the order of severity. The lowest impact has the rank 0. An unknown impact
// has the rank -1.
func (i Impact) Rank() int { return slices.Index(Impacts(), i) }

// SourceEmail is the source of conversations that a user, and not an integration, sends to the API.
const SourceEmail = "email"

// SourceOfInstallation is the source of conversations that an installation of an integration sends to the API.
func SourceOfInstallation(integration, installation string) string {
	return "integration:" + integration + ":" + installation
}

// These are the roles of the people who write the parts of a conversation.
const (
	RolePartUser       = "user"
	RolePartAssistant  = "assistant"
	RolePartTeamMember = "team-member"
)

// PartRoles returns the values of a part's `role`.
func PartRoles() []string { return []string{RolePartUser, RolePartAssistant, RolePartTeamMember} }

// PartTypes returns the values of a part's `type`.
func PartTypes() []string { return []string{"message"} }

// Conversation is an exchange between a user and support staff or an assistant. Impact is the highest impact of the
// conversation's issues. Impact and ProcessedAt are absent until Octavo has found the issues and put them into
// clusters.
type Conversation struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// ExternalID is the id that the conversation has in its source.
	ExternalID  string           `json:"externalId"`
	Subject     string           `json:"subject,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
	ProcessedAt *time.Time       `json:"processedAt,omitempty"`
	Source      string           `json:"source"`
	Impact      Impact           `json:"impact,omitempty" rules:"enum=impact"`
	URLs        ConversationURLs `json:"urls"`
}

// ConversationURLs are the addresses of a conversation. Source is the address of the conversation in the system from
// which the conversation comes.
type ConversationURLs struct {
	Location string `json:"location"`
	Source   string `json:"source,omitempty"`
}

// ConversationPart is one message of a conversation. Body is Markdown or HTML.
type ConversationPart struct {
	Type string `json:"type" rules:"enum=partType"`
	Role string `json:"role" rules:"enum=partRole"`
	Body string `json:"body"`
}

// ConversationMetadata is the data that a client sent along with a conversation.
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

// ConversationIssue is one problem that a user had in a conversation. Summary has the text of Details. Clients of the
// published schema read Summary, because this schema has no member for details. Cluster is absent until the issue has a
// cluster.
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

// LocationURLs are the addresses of a resource that has only one address: its address in the API.
type LocationURLs struct {
	Location string `json:"location"`
}

// IssueInConversation is an issue together with its conversation.
type IssueInConversation struct {
	Issue        ConversationIssue `json:"issue"`
	Conversation Conversation      `json:"conversation"`
}

// PulseWeeks is the number of weeks in a cluster's pulse. It is about three months.
const PulseWeeks = 13

// IssuesCluster groups issues about the same problem in different conversations. WeeklyPulse has the number of issues
// in each of the last PulseWeeks weeks. The oldest week comes first. Sources has the number of conversations from each
// source.
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
	// Theme is absent if Octavo has found no theme for the cluster.
	Theme *ClusterTheme `json:"theme,omitempty"`
	// Language is the language of the cluster's issues. It is absent if the language is unknown.
	Language string `json:"language,omitempty"`
	// ChangeRequests are the newest change requests that were made for the cluster.
	ChangeRequests []ClusterRequest `json:"changeRequests"`
}

// ClusterStats has the numbers of objects in a cluster. Octavo has no tasks, but the published schema requires numbers
// of tasks.
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

// ClusterOrders returns the values of the parameter `orderBy` in lists of clusters.
func ClusterOrders() []string {
	return []string{"updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"}
}

// These are the kinds of events in the history of a cluster.
const (
	ClusterJoined  = "joined"
	ClusterLeft    = "left"
	ClusterMerged  = "merged"
	ClusterRenamed = "renamed"
)

// ClusterEventKinds returns the values of an event's `kind`.
func ClusterEventKinds() []string {
	return []string{ClusterJoined, ClusterLeft, ClusterMerged, ClusterRenamed}
}

// ClusterEvent is a change of a cluster, with the reason. Issue and Conversation are the issue that joined or left the
// cluster, and its conversation. Depending on the kind, Title is the issue's title, or the label of a cluster that was
// merged into this cluster, or this cluster's former label.
type ClusterEvent struct {
	Object       string    `json:"object"`
	ID           string    `json:"id"`
	Kind         string    `json:"kind" rules:"enum=clusterEventKind"`
	CreatedAt    time.Time `json:"createdAt"`
	Title        string    `json:"title"`
	Reason       string    `json:"reason"`
	Issue        string    `json:"issue,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
}

// ClusterTheme is a theme that clusters with different problems may share.
type ClusterTheme struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// ClusterRequest is a change request that was made for a cluster.
type ClusterRequest struct {
	ID     string `json:"id"`
	Space  string `json:"space"`
	Number int32  `json:"number"`
	Status string `json:"status" rules:"enum=clusterRequestStatus"`
}

// ClusterRequests is the largest number of change requests that a cluster lists. A cluster lists its newest change
// requests.
const ClusterRequests = 20
