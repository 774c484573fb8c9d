package access

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"
)

// installationKey is a secret that all nodes of this deployment share. Each node reads it from the store only once.
type installationKey struct {
	find  func(context.Context) ([]byte, error)
	value atomic.Pointer[[]byte]
}

// Read returns the secret. It reads the secret from the store at the first call.
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

// readKey returns the secret that checks a caller's credential. While the node has not read the secret, the request
// counts against the caller's address, because the node must query the store.
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
