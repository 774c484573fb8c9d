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

// Door has the data of a browser's batch that are not in the body of the request.
type Door struct {
	// The visitor's hash is computed from IP and UserAgent, and the place is found from IP. Neither IP nor UserAgent is
	// stored.
	IP        netip.Addr
	UserAgent string
	// Place is the browser's place if a trusted sender names it. Then the place of IP is not looked up.
	Place Place
	Now   time.Time     // when the batch arrived
	Late  time.Duration // the time since the first attempt to send the batch
	// Key is the publishable key's id, and Generation counts its rotations.
	Key        string
	Generation int
	// Pixel means that the batch came in a request for an image. Such a batch may have no id, because browsers do not
	// retry requests for images.
	Pixel bool
	Hosts []string // hosts that the URLs of events may have (schema.HostAllowed)
}

// AcceptDoor accepts a browser's batch {"id":"...","events":[...]}. Like Accept, it returns nil when every event is
// durable in the log, or an *insights.Refusal. Events of unknown types are refused individually. The node assigns the
// visitor and the session of each event.
//
// The caller must not change `body` before AcceptDoor returns. AcceptDoor retains none of its bytes.
func (in *Intake) AcceptDoor(ctx context.Context, site Site, body []byte, door Door) error {
	client := Client{IP: door.IP, Now: door.Now, Place: door.Place, MaxEvents: doorMaxEvents}
	_, err := in.take(ctx, site, body, client, true, &door)
	return err
}

// doorBatch is a browser's batch that is being decoded.
type doorBatch struct {
	on   bool // whether the request is a browser's batch
	door Door
	late int64 // Door.Late in milliseconds

	visitors visitors
	pooled   []byte // reused buffer for the visitor's input, the value of the column eventKey, and the idempotency key
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

// end removes every reference to the request, so that the request's memory can be freed.
func (b *doorBatch) end() {
	pooled := b.pooled[:0]
	if cap(pooled) > maxPooled {
		pooled = nil
	}
	*b = doorBatch{pooled: pooled}
}

// key returns the value of the column eventKey.
func (b *doorBatch) key() string { return text(b.pooled[b.columnAt:b.idAt]) }

// identify stores the idempotency key of the batch, which is derived from the batch's id. If id is "", the batch has no
// id and gets no idempotency key. The idempotency key contains tabs, so it differs from every Idempotency-Key header.
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

// identified reports whether the batch has an id, or needs no id.
func (b *doorBatch) identified() bool { return b.door.Pixel || len(b.pooled) > b.idAt }

// idempotencyKey returns the key by which repeats of the batch are recognised. It is "" for a batch without an id.
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
