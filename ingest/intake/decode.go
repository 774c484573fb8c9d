package intake

import (
	"net/netip"
	"sync"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/section"
)

// decoder turns one request's body into one log message. Its strings share the memory of the body or of `scratch` until
// the encoder copies them. Requests take decoders from the pool `decoders` and return them to it.
type decoder struct {
	scanner
	index   int  // index of the current event
	current int  // position of the current event's first byte; the constant `outside` (-1) between events
	known   bool // whether an event of an unknown type is refused without the rest of the request
	unknown int  // number of refused events of unknown types
	event   insights.Event
	sent    sent
	target  target
	path    []byte // path of the current claim, in the plain form
	exact   []byte // the same path in its unambiguous form: see insights.ClaimTypes

	door       doorBatch
	claimPaths []claimPath // paths of the event's claims
	encoder    insights.Encoder
}

// outside is the value of decoder.current while the decoder is reading a part of the body that is not an event.
const outside = -1

// sent has those values of an event that are changed before they are stored, or are not stored. If the site has
// ClearIDs, `visitor` and `session` are also stored unchanged.
type sent struct {
	visitor, session string
	userAgent, ip    string
	timed            bool
	age              int64               // age of a browser's event in milliseconds
	payload          [payloadMembers]int // position of each member's value in the body; 0 if the member is absent
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// maxPooled is the largest capacity of a buffer in the pool. A larger buffer is not reused, so a single large request
// does not occupy its memory forever.
const maxPooled = 1 << 20

func getDecoder(body []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.data, d.pos, d.index, d.current = body, 0, 0, outside
	d.known, d.unknown = false, 0
	return d
}

// putDecoder puts a decoder back into the pool. It drops every reference to the body, because the caller may change the
// body after Accept returns.
func putDecoder(d *decoder) {
	if cap(d.scratch) > maxPooled || cap(d.encoder.Bytes()) > maxPooled {
		return
	}
	d.data = nil
	d.door.end()
	d.begin()
	clear(d.event.Claims[:cap(d.event.Claims)])
	clear(d.claimPaths[:cap(d.claimPaths)])
	decoders.Put(d)
}

// begin clears the values of the previous event.
func (d *decoder) begin() {
	d.event.Reset()
	d.sent = sent{}
	d.target = target{}
	d.scratch = d.scratch[:0]
}

// request decodes the whole body into the encoder. After an error the encoder's content is undefined.
func (d *decoder) request(in *Intake, site Site, client Client) *insights.Refusal {
	now := client.Now.UnixMilli()
	d.encoder.Begin(in.ids.next(), site.ID, now)
	who := in.hasher.site(site.ID)
	if d.peek() != '{' {
		return d.syntax("must be a JSON object with the array `events`")
	}
	d.pos++
	found := false
	for first := true; ; first = false {
		name, more, err := d.member(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if name == "id" && d.door.on {
			if err := d.batchID(); err != nil {
				return err
			}
			continue
		}
		if name != "events" {
			if !d.skip(1) {
				return d.syntax("")
			}
			continue
		}
		if found {
			return d.syntax("has the member `events` twice")
		}
		found = true
		if err := d.events(in, site, who, client, now); err != nil {
			return err
		}
	}
	switch {
	case !d.ended():
		return d.syntax("has more than one JSON value")
	case !found:
		return insights.Refuse(insights.MissingField, "events", "is required")
	case d.door.on && !d.door.identified():
		return insights.Refuse(insights.MissingField, "id", "is required")
	}
	return nil
}

func (d *decoder) events(in *Intake, site Site, who siteHasher, client Client, now int64) *insights.Refusal {
	switch d.peek() {
	case '[':
		d.pos++
	case 'n':
		return insights.Refuse(insights.MissingField, "events", "is required")
	default:
		return insights.Refuse(insights.NotJSON, "events", "must be an array")
	}
	allowed := timeRange{latest: now + in.cfg.MaxFuture.Milliseconds()}
	if !client.AnyPast {
		allowed.earliest, allowed.past = now-in.cfg.MaxPast.Milliseconds(), in.cfg.MaxPast
	}
	most := in.cfg.MaxEvents
	if client.MaxEvents > 0 {
		most = min(most, client.MaxEvents)
	}
	for first := true; ; first = false {
		more, ok := d.more(first, ']')
		if !ok {
			return d.syntax("")
		}
		if !more {
			return nil
		}
		d.current = d.pos
		if d.index == most {
			return insights.Refuse(insights.TooManyEvents, "events", "has more than "+itoa(most)+" events: send them in several requests")
		}
		d.begin()
		if err := d.decodeEvent(allowed); err == nil {
			if d.door.on {
				d.enrichBrowser(in, who, client)
			} else {
				d.enrich(in, site, who, client, now)
			}
			d.encoder.Add(&d.event)
		} else if err = d.refusedAlone(err); err != nil {
			return err
		}
		d.index++
		d.current = outside
	}
}

// decodeEvent decodes and validates one event, and collects the values that `enrich` needs.
func (d *decoder) decodeEvent(allowed timeRange) *insights.Refusal {
	if d.peek() != '{' {
		return d.wrongType("", "must be an object")
	}
	d.pos++
	e := &d.event
	for first := true; ; first = false {
		name, more, err := d.member(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		switch {
		case name == "type":
			err = d.eventType()
		case d.door.on:
			err = d.browserMember(name)
		default:
			err = d.apiMember(name, allowed)
		}
		if err != nil {
			return err
		}
	}
	if e.Type == 0 {
		return d.missing("type")
	}
	if d.door.on {
		if err := d.browserEvent(allowed); err != nil {
			return err
		}
		return d.payload()
	}
	switch {
	case d.sent.visitor == "":
		return d.missing("session.visitorId")
	case d.sent.session == "":
		return d.missing("session.sessionId")
	case e.URL == "":
		return d.missing("location.url")
	}
	return d.payload()
}

func (d *decoder) eventType() *insights.Refusal {
	var word string
	err := d.shortStr(&word, "type")
	if err == nil && word != "" {
		var ok bool
		if d.event.Type, ok = insights.EventTypes.Code(word); !ok {
			return d.unknownType()
		}
	}
	return err
}

// apiMember reads a member of an event that was not sent by a browser.
func (d *decoder) apiMember(name string, allowed timeRange) *insights.Refusal {
	switch name {
	case "session":
		return d.session()
	case "location":
		return d.location()
	case "timestamp":
		return d.timestamp(allowed)
	}
	return d.payloadMember(name)
}

// payloadMember remembers the position of a payload member. Its meaning depends on the event's type, which may follow
// later in the event. A member that does not belong to the type is ignored, like an unknown member.
func (d *decoder) payloadMember(name string) *insights.Refusal {
	if i := payloadIndex(name); i >= 0 {
		d.sent.payload[i] = 0
		if d.peek() != 'n' {
			d.sent.payload[i] = d.pos
		}
	}
	if !d.skip(3) {
		return d.syntax("")
	}
	return nil
}

// member reads an object's next member, up to the beginning of the member's value. `more` is false after the last
// member.
func (d *decoder) member(first bool) (name string, more bool, err *insights.Refusal) {
	more, ok := d.more(first, '}')
	if more && ok {
		name, ok = d.key()
	}
	if !ok {
		return "", false, d.syntax("")
	}
	return name, more, nil
}

func (d *decoder) session() *insights.Refusal {
	open, err := d.object("session")
	if !open {
		return err
	}
	e := &d.event
	for first := true; ; first = false {
		name, more, err := d.member(first)
		if !more {
			return err
		}
		switch name {
		case "visitorId":
			err = d.nonEmpty(&d.sent.visitor, "session.visitorId", maxID)
		case "sessionId":
			err = d.nonEmpty(&d.sent.session, "session.sessionId", maxID)
		case "userAgent":
			err = d.str(&d.sent.userAgent, "session.userAgent", maxText)
		case "ip":
			err = d.str(&d.sent.ip, "session.ip", maxText)
		case "language":
			err = d.shortStr(&e.Language, "session.language")
		case "referrer":
			err = d.url(&e.Referrer, "session.referrer")
		case "visitorAuthToken":
			// Only the presence of a token is stored.
			var token string
			if err = d.str(&token, "session.visitorAuthToken", maxToken); token != "" {
				e.Authenticated = true
			}
		case "visitorAuthClaims":
			err = d.claims()
		case "cookies":
			// Cookies are not stored, so only the type of the member `cookies` is checked.
			if c := d.peek(); c != '{' && c != 'n' {
				return d.wrongType("session.cookies", "must be an object")
			}
			if !d.skip(4) {
				return d.syntax("")
			}
		default:
			if !d.skip(4) {
				return d.syntax("")
			}
		}
		if err != nil {
			return err
		}
	}
}

func (d *decoder) location() *insights.Refusal {
	open, err := d.object("location")
	if !open {
		return err
	}
	e := &d.event
	for first := true; ; first = false {
		name, more, err := d.member(first)
		if !more {
			return err
		}
		switch name {
		case "url":
			err = d.url(&e.URL, "location.url")
		case "displayContext":
			err = d.enum(&e.DisplayContext, insights.DisplayContexts, "location.displayContext")
		case "siteSection":
			err = d.shortStr(&e.Section, "location.siteSection")
			e.Section = section.ID(e.Section)
		case "siteSpace":
			err = d.shortStr(&e.SiteSpace, "location.siteSpace")
		case "siteShareKey":
			err = d.shortStr(&e.ShareKey, "location.siteShareKey")
		case "space":
			err = d.shortStr(&e.Space, "location.space")
		case "revision":
			err = d.shortStr(&e.Revision, "location.revision")
		case "page":
			err = d.shortStr(&e.Page, "location.page")
		case "title":
			err = d.str(&e.Title, "location.title", maxText)
		case "status":
			err = d.measured(&e.HTTPStatus, "location.status", insights.MinHTTPStatus, insights.MaxHTTPStatus)
		default:
			if !d.skip(4) {
				return d.syntax("")
			}
		}
		if err != nil {
			return err
		}
	}
}

// enrich fills the columns that are derived from the sent values.
func (d *decoder) enrich(in *Intake, site Site, who siteHasher, client Client, now int64) {
	e := &d.event
	if !d.sent.timed {
		e.TimeMillis = now
	}
	e.Visitor, e.Session = who.visitor(d.sent.visitor), who.session(d.sent.session)
	if site.ClearIDs {
		e.VisitorID, e.SessionID = d.sent.visitor, d.sent.session
	}
	ip, own := client.IP, d.sent.ip != ""
	if own {
		// If session.ip is not an address, for example the text "unknown" of a proxy, the visitor's place is unknown.
		// The caller's address is not used instead, because the caller may be a server.
		ip, _ = netip.ParseAddr(d.sent.ip)
	}
	d.derive(in, d.sent.userAgent, &client.Place, ip, own)
}

// derive fills the columns that are derived in the same way for API requests and for browsers' batches. `stated` is the
// place that a trusted sender names. `own` is true if ip is certainly the visitor's address, and not the address of a
// server.
func (d *decoder) derive(in *Intake, userAgent string, stated *Place, ip netip.Addr, own bool) {
	e := &d.event
	if e.DisplayContext == 0 {
		e.DisplayContext = displaySite
	}
	a := in.agents.find(userAgent)
	e.Device, e.Browser, e.OS, e.Bot = a.device, a.browser, a.os, a.bot
	e.AgentClass, e.AgentOperator = a.program.Class, a.program.Operator
	e.AgentVerified = verify(&a, in.ranges.Load(), ip, own, e.TimeMillis)
	e.ContentForm = formOf(e)
	d.campaign()
	e.ReferrerDomain = d.host(e.Referrer, true)
	if stated.Country != "" || stated.HasPoint {
		e.Country, e.Latitude, e.Longitude = stated.Country, stated.Latitude, stated.Longitude
		e.HasPoint = stated.HasPoint
		return
	}
	if in.cfg.Places == nil {
		return
	}
	if place, ok := in.cfg.Places.Locate(ip.Unmap()); ok {
		e.Country, e.Latitude, e.Longitude, e.HasPoint = place.Country, place.Latitude, place.Longitude, place.HasPoint
	}
}
