package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

const aboutWebhooks = `# Webhooks

An admin of an organization creates a webhook with ` + "`POST /v1/orgs/{organizationId}/webhooks`" + `: an address that Octavo posts events to, as JSON. The
answer has the webhook's secret, which is not shown again. ` + "`events`" + ` lists the types that it hears of; an empty list means all.

## What is sent

| member | is |
|---|---|
| ` + "`id`" + ` | the id of the event, the same in every attempt and for every webhook |
| ` + "`type`" + ` | one of the types below |
| ` + "`createdAt`" + ` | when it happened |
| ` + "`organization`" + ` | the id of the organization |
| ` + "`actor`" + ` | the user who did it: ` + "`object`, `id`" + `; absent if that is not known, or if nobody did it |
| ` + "`data`" + ` | what it happened to: ` + "`object`" + `, the members below, and ` + "`urls.location`" + `, its address in the API |

Payloads name things and hold no text that people wrote: a receiver may know less than its organization. One that may know more reads
` + "`urls.location`" + ` with a token of its own.

## How to check it

Messages are signed as the [Standard Webhooks](https://www.standardwebhooks.com) specification has it, so its libraries can check them. The headers
are ` + "`webhook-id`" + ` (the event's id), ` + "`webhook-timestamp`" + ` (seconds since 1970, of the attempt) and ` + "`webhook-signature`" + `: signatures with a space
between them, each ` + "`v1,`" + ` and the base64 of the HMAC-SHA256 of ` + "`<id>.<timestamp>.<body>`" + `. Its key is the base64 after ` + "`whsec_`" + ` in the secret. For a day after a
secret was rotated, there is a signature with each of the two. Refuse a message whose ` + "`webhook-timestamp`" + ` is more than five minutes off: somebody
who saw it may have sent it again. Every attempt has its own.

## How it is delivered

- A receiver has taken an event when it answers 200 to 299 within 15 seconds. Redirects are not followed. The first KiB of an answer can be read in the delivery.
- At least once: an event that was taken may come again, with the same id. Keep the ids, or do what is safe to do twice.
- In order for each webhook, as long as the receiver takes what it gets. An event that it refuses three times lets the others pass.
- Attempts that fail are repeated after 5 s, 30 s, 10 min, 1 h, 2 h, 4 h, 8 h, 12 h and 24 h, or later if the receiver says so by ` + "`Retry-After`" + `; a receiver that takes
  nothing is tried once an hour at most. What could not be delivered within three days has failed.
- A receiver that answers 410, or has taken nothing for three days, is disabled. It hears of what happens from when an admin makes it active again.
- Deliveries are kept for two weeks and can be sent again: ` + "`POST …/deliveries/{deliveryId}/redeliver`" + `. ` + "`POST …/ping`" + ` tries a webhook.
- Addresses must be on the public network, but for those that the setting ` + "`OCTAVO_OUTBOUND_ALLOW`" + ` opens.

## Types

| type | sent when | data |
|---|---|---|
`

// webhooks writes the document for receivers of webhooks.
func webhooks(b *bytes.Buffer) error {
	b.WriteString(notice + aboutWebhooks)
	for _, row := range schema.WebhookEventTypes() {
		members := "`" + strings.Join(row.Data.Members, "`, `") + "`"
		fmt.Fprintf(b, "| `%s` | %s | %s: %s |\n", row.Name, row.Doc, row.Data.Object, members)
	}
	b.WriteString("\nMembers with a question mark may be absent.\n")
	return nil
}
