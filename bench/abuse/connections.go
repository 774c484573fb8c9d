package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// connectionAttacks returns attacks that hold connections open.
func connectionAttacks() []*attack {
	announced := "POST /v1/orgs HTTP/1.1\r\nHost: x\r\nContent-Length: 8388600\r\n"
	return []*attack{
		{name: "announce 8 MiB, no token, 1 address", addresses: 1, request: announced + "\r\n"},
		{name: "announce 8 MiB, no token, 50 addresses", addresses: 50, request: announced + "\r\n"},
		{name: "announce 8 MiB, made-up token, 50 addresses", addresses: 50, request: announced + "Authorization: Bearer " + schema.NewToken() + "\r\n\r\n"},
		{name: "send nothing, 50 addresses", addresses: 50},
		{name: "one request, then nothing, 50 addresses", addresses: 50, request: "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"},
	}
}

// connections measures the node while connections are held open.
func (o options) connections(ctx context.Context, node *node) error {
	attacks := connectionAttacks()
	ask := question{method: http.MethodGet, path: "/v1/user", token: node.Client.Token}
	idle, err := o.series(ctx, node, ask, attacks, func(a *attack) error { return o.hold(ctx, node, a, ask) })
	if err != nil {
		return err
	}
	return judge(idle, attacks, o.Memory, 2)
}

// hold holds the connections of an attack open while another client sends requests. `hold` reopens connections that the
// node closes.
func (o options) hold(ctx context.Context, node *node, a *attack, ask question) error {
	attacking, end := context.WithCancel(ctx)
	var workers sync.WaitGroup
	before := a.opened.Load()
	slots := make(chan int)
	// Each goroutine holds one connection. If the node closes the connection, the goroutine reopens it after a pause.
	// The pause limits the load.
	for range o.Connections {
		workers.Go(func() {
			for i := range slots {
				for attacking.Err() == nil {
					once(attacking, node.Client.Address, a, i)
				}
			}
		})
	}
	for i := range o.Connections {
		slots <- i
	}
	close(slots)
	// Wait until all connections have been opened once, because only the time after this is measured.
	for wave := time.Now(); a.opened.Load() < before+int64(o.Connections) && time.Since(wave) < reopen && ctx.Err() == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	err := a.look(ctx, node, o, ask)
	end()
	workers.Wait()
	return err
}

// reopen is the pause before an attack reopens a closed connection. With a shorter pause, the attack would open new
// connections all the time, and the figures would not be about connections that are held open. An earlier version of
// the node closed each connection after 30 s.
const reopen = 30 * time.Second

// once opens a connection, sends the attack's request, and waits until the connection is closed.
func once(ctx context.Context, address string, a *attack, i int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%a.addresses))}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		a.opened.Add(1)
		unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, err = conn.Write([]byte(a.request))
		scrap := make([]byte, 512)
		for err == nil {
			_, err = conn.Read(scrap)
		}
		unhook()
		_ = conn.Close()
	}
	select {
	case <-time.After(reopen):
	case <-ctx.Done():
	}
}
