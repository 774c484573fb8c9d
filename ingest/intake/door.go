package intake

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// doorMaxEvents is the largest number of events in a batch of a browser.
const doorMaxEvents = 50

// Door has the facts about a browser's batch that are not in the body of the request.
type Door struct {
	// IP and UserAgent determine the visitor, and IP determines the place. Neither IP nor UserAgent is stored.
	IP        netip.Addr
	UserAgent string
	// Place is the browser's place according to a trusted sender; it replaces the lookup of the address.
	Place Place
	Now   time.Time     // when the batch arrived
	Late  time.Duration // the time since the first attempt to send the batch
	// Key is the publishable key's id, and Generation counts its rotations.
	Key        string
	Generation int
	// Pixel means that an image was requested. Such a batch may have no id, because an image has no retries.
	Pixel bool
	Hosts []string // hosts that the urls of events may have: see schema.HostAllowed
}

// AcceptDoor accepts a browser's batch {"id":"...","events":[...]}. Like Accept, it returns nil when every event is
// durable in the log, or an *insights.Refusal. Events of unknown types are refused individually. The node assigns the
// visitor and the session of each event.
//
// AcceptDoor reads body until it returns, and retains none of its bytes.
func (in *Intake) AcceptDoor(ctx context.Context, site Site, body []byte, door Door) error {
	client := Client{IP: door.IP, Now: door.Now, Place: door.Place, MaxEvents: doorMaxEvents}
	_, err := in.take(ctx, site, body, client, true, &door)
	return err
}

// doorBatch is a browser's batch that is being decoded.
type doorBatch struct {
	on   bool // whether the request is a browser's batch
	door Door
	late int64 // milliseconds

	visitors visitors
	pooled   []byte // buffer for the visitor's input, the key and the id; reused
	columnAt int    // start of the value of the column eventKey in pooled
	idAt     int    // start of the idempotency key in pooled
}

func (b *doorBatch) begin(site string, door *Door, salts *daySalts) {
	b.on, b.door = true, *door
	b.late = max(door.Late.Milliseconds(), 0)
	b.pooled = appendVisitor(b.pooled[:0], door.IP, door.UserAgent)
	b.visitors = salts.visitors(site, b.pooled, door.Now)
	b.columnAt = len(b.pooled)
	b.pooled = append(b.pooled, door.Key...)
	b.pooled = append(b.pooled, '.')
	b.pooled = strconv.AppendInt(b.pooled, int64(door.Generation), 10)
	b.idAt = len(b.pooled)
}

// end drops every reference to the request.
func (b *doorBatch) end() {
	pooled := b.pooled[:0]
	if cap(pooled) > maxPooled {
		pooled = nil
	}
	*b = doorBatch{pooled: pooled}
}

// key returns the value of the column eventKey.
func (b *doorBatch) key() string { return text(b.pooled[b.columnAt:b.idAt]) }

// identify stores the idempotency key that belongs to the batch's id. "" means that the batch has no id. The
// idempotency key has tabs, so it differs from every Idempotency-Key of a request.
func (b *doorBatch) identify(id string) {
	b.pooled = b.pooled[:b.idAt]
	if id == "" {
		return
	}
	b.pooled = append(b.pooled, "door\t"...)
	b.pooled = append(b.pooled, b.door.Key...)
	b.pooled = append(b.pooled, '\t')
	b.pooled = append(b.pooled, id...)
}

// identified reports whether the batch has an id, or needs none.
func (b *doorBatch) identified() bool { return b.door.Pixel || len(b.pooled) > b.idAt }

// idempotencyKey returns the key under which the batch is stored once; "" for a batch without an id.
func (b *doorBatch) idempotencyKey() string { return text(b.pooled[b.idAt:]) }

var (
	doorKey   = code(insights.EventDoors, "key")
	doorPixel = code(insights.EventDoors, "pixel")
)

// enrichBrowser fills the columns that are derived from the sent values and from the request.
func (d *decoder) enrichBrowser(in *Intake, who siteHasher, client Client) {
	e, b := &d.event, &d.door
	e.Visitor, e.Session = in.sessions.assign(who, b.visitors, e.TimeMillis)
	e.Door, e.PublishableKey = doorKey, b.key()
	if b.door.Pixel {
		e.Door = doorPixel
	}
	d.derive(in, b.door.UserAgent, &client.Place, client.IP, true)
}
