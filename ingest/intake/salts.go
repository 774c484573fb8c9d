package intake

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dchest/siphash"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// SaltStore stores the salts of visitors. Package store implements it.
type SaltStore interface {
	// DoorSalts returns the salts of the current day and of recent days. Before that, it stores an offered salt if the
	// store has no salt of this day, or has a newer salt of this day. An offered salt without a time was created just
	// now.
	DoorSalts(ctx context.Context, offered []schema.DoorSalt) ([]schema.DoorSalt, error)
}

const (
	saltInterval = time.Minute // time between two reads of the store's salts
	saltWait     = 2 * time.Second
	saltPause    = time.Second // pause after a failed read
	dayMillis    = 24 * 60 * 60 * 1000
)

// Salts has the random salts from which the hashes of browsers' visitors are computed. All nodes use the same salt for
// a day in UTC. The first node that needs a day's salt creates it. The store deletes a salt 48 hours after its day
// began, and the nodes remove it from their memory.
//
// A crash of Postgres, or a switch to a replica, empties the table of salts. The nodes then store the salts from their
// memory again. If nodes have different salts of a day, all nodes use the older salt.
type Salts struct {
	store SaltStore
	log   *slog.Logger
	pause time.Duration

	cancel context.CancelFunc
	done   sync.WaitGroup

	known atomic.Pointer[[]schema.DoorSalt] // known has at most one salt per day. It is replaced, never changed.

	mu     sync.Mutex // mu is held while the store is queried
	failed time.Time
	err    error // error of the last read of the store
}

// NewSalts builds Salts. It starts nothing.
func NewSalts(store SaltStore, log *slog.Logger) *Salts {
	s := &Salts{store: store, log: log, pause: saltPause}
	s.known.Store(&[]schema.DoorSalt{})
	return s
}

// Start begins a goroutine that calls Renew every minute, until Stop.
func (s *Salts) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done.Go(func() { s.run(ctx) })
}

// Stop ends the goroutine that Start began.
func (s *Salts) Stop(context.Context) error {
	s.cancel()
	s.done.Wait()
	return nil
}

func (s *Salts) run(ctx context.Context) {
	tick := time.NewTicker(saltInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.Renew(ctx, time.Now()); err != nil && ctx.Err() == nil {
			s.log.Warn("Cannot compare the salts of visitors with the store's; the next try follows.", "error", err)
		}
	}
}

// Renew removes the salts of days before yesterday from memory. It compares the other salts with the salts in the
// store, and stores the salts that the store has lost. If the node has no salt, it does not query the store.
func (s *Salts) Renew(ctx context.Context, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.forget(now)) == 0 {
		return nil
	}
	return s.compare(ctx, now, false)
}

// forget removes the salts of days before yesterday from memory, and returns the remaining salts. The caller holds mu.
func (s *Salts) forget(now time.Time) []schema.DoorSalt {
	var list []schema.DoorSalt
	for _, salt := range *s.known.Load() {
		if salt.Day >= dayOf(now)-1 {
			list = append(list, salt)
		}
	}
	s.known.Store(&list)
	return list
}

// compare offers this node's salts to the store. If `missing` is true, it also offers a new salt for the current day.
// Then the node uses the salts that the store returns. The caller holds mu.
func (s *Salts) compare(ctx context.Context, now time.Time, missing bool) error {
	had := s.forget(now)
	offered := had[:len(had):len(had)]
	if missing {
		salt := schema.DoorSalt{Day: dayOf(now)}
		_, _ = rand.Read(salt.Salt[:]) // crypto/rand does not fail
		offered = append(offered, salt)
	}
	bounded, cancel := context.WithTimeout(ctx, saltWait)
	defer cancel()
	got, err := s.store.DoorSalts(bounded, offered)
	if err != nil {
		return err
	}
	for _, old := range had {
		for _, salt := range got {
			if salt.Day == old.Day && salt.Salt != old.Salt {
				day := time.UnixMilli(int64(old.Day) * dayMillis).UTC().Format(time.DateOnly)
				s.log.Warn("Another node has an older salt of the day: visitors of this node count twice.", "day", day)
			}
		}
	}
	s.known.Store(&got)
	s.forget(now)
	return nil
}

// of finds the salt of a day.
func (s *Salts) of(day int32) (schema.DoorSalt, bool) {
	for _, salt := range *s.known.Load() {
		if salt.Day == day {
			return salt, true
		}
	}
	return schema.DoorSalt{}, false
}

var (
	errNoSalt  = errors.New("the store keeps no salt of the node's day: their clocks differ by days")
	errNoStore = errors.New("the intake was built without salts")
)

// at returns the salts for a time. It queries the store if the node lacks the day's salt.
func (s *Salts) at(ctx context.Context, now time.Time) (daySalts, error) {
	day := dayOf(now)
	today, ok := s.of(day)
	if !ok {
		if err := s.fetch(ctx, now); err != nil {
			return daySalts{}, err
		}
		if today, ok = s.of(day); !ok {
			return daySalts{}, errNoSalt
		}
	}
	salts := daySalts{today: saltKey(&today)}
	if yesterday, ok := s.of(day - 1); ok {
		salts.yesterday, salts.crosses = saltKey(&yesterday), true
	}
	return salts, nil
}

// fetch gets the salt of the current day from the store. After an error, it returns this error to all callers for a
// short time. So a database that does not answer does not delay each caller.
func (s *Salts) fetch(ctx context.Context, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.of(dayOf(now)); ok {
		return nil
	}
	if s.err != nil && time.Since(s.failed) < s.pause {
		return s.err
	}
	// The query serves all waiting callers, so it must not end with the first caller's request.
	if s.err = s.compare(context.WithoutCancel(ctx), now, true); s.err != nil {
		s.failed = time.Now()
		return fmt.Errorf("cannot get the salt of visitors: %w", s.err)
	}
	return nil
}

// saltsAt returns the salts for a batch that arrived at `now`.
func (in *Intake) saltsAt(ctx context.Context, now time.Time) (daySalts, *insights.Refusal) {
	err := errNoStore
	if in.cfg.Salts != nil {
		var salts daySalts
		if salts, err = in.cfg.Salts.at(ctx, now); err == nil {
			return salts, nil
		}
	}
	const problem = "visitors cannot be told apart for a moment, try again"
	return daySalts{}, insights.Refuse(insights.SaltUnavailable, "", problem).Because(err)
}

func dayOf(t time.Time) int32 { return int32(t.Unix() / (24 * 60 * 60)) }

// daySalts has the hash keys from the salts of today and yesterday. `crosses` means that there is a salt of yesterday,
// so that a session can continue after midnight.
type daySalts struct {
	today, yesterday [4]uint64
	crosses          bool
}

func saltKey(s *schema.DoorSalt) (key [4]uint64) {
	for i := range key {
		key[i] = binary.LittleEndian.Uint64(s.Salt[8*i:])
	}
	return key
}

// visitors returns a visitor's hashes for a site. `input` has the bytes from appendVisitor.
func (s *daySalts) visitors(site string, input []byte, now time.Time) visitors {
	v := visitors{today: saltedVisitor(&s.today, site, input), midnight: int64(dayOf(now)) * dayMillis}
	if s.crosses {
		v.yesterday = saltedVisitor(&s.yesterday, site, input)
	}
	return v
}

func saltedVisitor(key *[4]uint64, site string, input []byte) uint64 {
	k0, k1 := siphash.Hash128(key[0], key[1], bytesOf(site))
	return notZero(siphash.Hash(k0^key[2], k1^key[3], input))
}

// appendVisitor appends the data that identify a browser's visitor: the address and the user agent. Of an IPv6 address,
// it uses only the first 64 bits.
func appendVisitor(dst []byte, ip netip.Addr, agent string) []byte {
	ip = ip.Unmap()
	b := ip.As16()
	if ip.Is6() {
		clear(b[8:])
	}
	return append(append(dst, b[:]...), agent...)
}
