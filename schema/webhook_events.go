package schema

import "slices"

// WebhookEventType is a type of events that webhooks receive. It is a row of the table WebhookEventTypes. Database
// triggers record the events in the transaction of the change (store/functions/webhooks.sql).
type WebhookEventType struct {
	Name string
	// Doc is the end of the sentence "It is sent when ...".
	Doc string
	// Data describes the object in the payload's member `data`.
	Data *WebhookData
}

// WebhookData describes a kind of object in payloads.
type WebhookData struct {
	Object string
	// Members has the names of the members of `data`, without `urls`. If a name ends with a question mark, the member
	// may be absent.
	Members []string
	// Location returns the elements of the object's path in the API. The function `member` returns the value of a
	// member of `data`.
	Location func(member func(name string) string) []string
}

// WebhookPing is the type of test events. A webhook cannot subscribe to it.
const WebhookPing = "webhook.ping"

// These are the kinds of objects in payloads.
var (
	webhookComment = &WebhookData{
		Object: "comment", Members: []string{"id", "space", "changeRequest?", "page?", "postedBy", "status"},
		Location: func(of func(string) string) []string { return append(discussion(of), of("id")) },
	}
	webhookReply = &WebhookData{
		Object: "comment-reply", Members: []string{"id", "space", "changeRequest?", "comment", "postedBy"},
		Location: func(of func(string) string) []string {
			return append(discussion(of), of("comment"), "replies", of("id"))
		},
	}
	webhookChangeRequest = &WebhookData{
		Object: "change-request", Members: []string{"id", "space", "number", "status", "createdBy", "revision", "revisionMerged?"},
		Location: func(of func(string) string) []string {
			return []string{"spaces", of("space"), "change-requests", of("id")}
		},
	}
	webhookReview = &WebhookData{
		Object: "change-request-review", Members: []string{"id", "space", "changeRequest", "reviewer", "status", "revision"},
		Location: func(of func(string) string) []string {
			return []string{"spaces", of("space"), "change-requests", of("changeRequest"), "reviews", of("id")}
		},
	}
	webhookSpace = &WebhookData{
		Object: "space", Members: []string{"id", "revision", "previousRevision", "revisionType?", "changeRequest?"},
		Location: func(of func(string) string) []string { return []string{"spaces", of("id")} },
	}
	webhookTranslationRun = &WebhookData{
		Object: "translation-run", Members: []string{"id", "translation", "organization", "space", "language", "reason?"},
		Location: func(of func(string) string) []string {
			return []string{"orgs", of("organization"), "translations", of("translation"), "runs", of("id")}
		},
	}
	webhookCluster = &WebhookData{
		Object: "issues-cluster", Members: []string{"id", "organization", "impact", "muted", "issues", "conversations"},
		Location: func(of func(string) string) []string {
			return []string{"orgs", of("organization"), "conversations-clusters", of("id")}
		},
	}
	webhookClusterGone = &WebhookData{
		Object: webhookCluster.Object, Members: append(slices.Clone(webhookCluster.Members), "mergedInto?"), Location: webhookCluster.Location,
	}
	webhookInstallation = &WebhookData{
		Object: "installation", Members: []string{"id", "integration", "organization"},
		Location: func(of func(string) string) []string {
			return []string{"integrations", of("integration"), "installations", of("id")}
		},
	}
	webhookItself = &WebhookData{
		Object: "webhook", Members: []string{"id", "organization"},
		Location: func(of func(string) string) []string {
			return []string{"orgs", of("organization"), "webhooks", of("id")}
		},
	}
)

func discussion(of func(string) string) []string {
	path := []string{"spaces", of("space")}
	if request := of("changeRequest"); request != "" {
		path = append(path, "change-requests", request)
	}
	return append(path, "comments")
}

// WebhookEventTypes returns the table of all types.
func WebhookEventTypes() []WebhookEventType {
	return []WebhookEventType{
		{"comment.created", "somebody comments on a space or a change request", webhookComment},
		{"comment.updated", "the text of a comment changes", webhookComment},
		{"comment.resolved", "a comment is resolved", webhookComment},
		{"comment.reopened", "a resolved comment is opened again", webhookComment},
		{"comment.deleted", "a comment is deleted, with its replies; not when its space or change request is", webhookComment},
		{"comment.reply.created", "somebody replies to a comment", webhookReply},
		{"comment.reply.updated", "the text of a reply changes", webhookReply},
		{"comment.reply.deleted", "a reply is deleted; not when its comment is", webhookReply},
		{"change_request.created", "a change request is created", webhookChangeRequest},
		{"change_request.updated", "the content, the subject, the description or the status of a change request changes, other than by a merge", webhookChangeRequest},
		{"change_request.reviewed", "somebody reviews a change request", webhookReview},
		{"change_request.merged", "a change request is merged", webhookChangeRequest},
		{"space.content_updated", "the main content of a space has a new revision: by edits, a merge or an import", webhookSpace},
		{"translation.run.completed", "a run of a translation is done", webhookTranslationRun},
		{"translation.run.failed", "a run of a translation fails for the first time; it may be tried again by itself, and be completed then", webhookTranslationRun},
		{"cluster.created", "a new cluster of issues of conversations is found", webhookCluster},
		{"cluster.updated", "a cluster changes: its title, its summary, its impact or how many issues it has", webhookCluster},
		{"cluster.deleted", "a cluster goes: it is merged into another one, `mergedInto`, which is updated, or its last issue leaves it", webhookClusterGone},
		{"cluster.muted", "a cluster is muted", webhookCluster},
		{"cluster.unmuted", "a cluster is not muted any more", webhookCluster},
		{"installation.created", "an integration is installed", webhookInstallation},
		{"installation.updated", "an installation changes", webhookInstallation},
		{"installation.deleted", "an integration is uninstalled", webhookInstallation},
		{WebhookPing, "somebody tries the webhook", webhookItself},
	}
}

// WebhookEventNames returns the types to which a webhook can subscribe.
func WebhookEventNames() []string {
	var names []string
	for _, row := range WebhookEventTypes() {
		if row.Name != WebhookPing {
			names = append(names, row.Name)
		}
	}
	return names
}

// WebhookLocation returns the path of an event's object in the API. `ok` is false if this version of Octavo does not
// have the event's type.
func WebhookLocation(eventType string, data map[string]any) (path []string, ok bool) {
	for _, row := range WebhookEventTypes() {
		if row.Name == eventType {
			return row.Data.Location(func(name string) string {
				text, _ := data[name].(string)
				return text
			}), true
		}
	}
	return nil, false
}
