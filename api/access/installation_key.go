package access

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"
)

// installationKey is a key of the installation. It is read only once.
type installationKey struct {
	find  func(context.Context) ([]byte, error)
	value atomic.Pointer[[]byte]
}

// Read returns the key.
func (k *installationKey) Read(ctx context.Context) ([]byte, error) {
	if known := k.value.Load(); known != nil {
		return *known, nil
	}
	key, err := k.find(ctx)
	if err == nil {
		k.value.Store(&key)
	}
	return key, err
}

// readKey returns a key for a caller's claim. The first read queries the database. It counts as a wrong token of the
// caller's address until it succeeds.
func (g *Guard) readKey(ctx context.Context, k *installationKey, ip netip.Addr, now time.Time) ([]byte, error) {
	if known := k.value.Load(); known != nil {
		return *known, nil
	}
	if err := g.addresses.takeWrongToken(ip, now); err != nil {
		return nil, err
	}
	key, err := k.Read(ctx)
	if err == nil {
		g.addresses.giveBackWrongToken(ip)
	}
	return key, err
}
