package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

const (
	// pageHost is the host of the pages from which the publishable key may post events.
	pageHost = "docs.example.com"
	// doorRate is the number of requests that all senders of an attack together send in a second.
	doorRate = 1000
)

// knock returns the path and the body of the n-th request of a sender, for an attack on the door (the operation for
// browsers).
type knock func(sender, n int) (path, body string)

func page(id string) string {
	return `{"id":"` + id + `","events":[{"type":"page_view","url":"https://` + pageHost + `/"}]}`
}

// door measures the node during attacks on the operation for browsers. The attacks send made-up keys, forged keys with
// the format of real keys, events of one key from many addresses, one batch repeatedly, and events of other hosts.
func (o options) door(ctx context.Context, node *node) error {
	organization, err := node.Client.Create(ctx, "/v1/orgs", "Door")
	if err != nil {
		return err
	}
	site, err := node.Client.Create(ctx, "/v1/orgs/"+organization+"/sites", "Door")
	if err != nil {
		return err
	}
	path, err := node.Client.Door(ctx, organization, site, pageHost)
	if err != nil {
		return err
	}
	knocks := map[string]knock{
		"door: no key, 500 addresses": func(sender, n int) (string, string) {
			return fmt.Sprint("/e/key", sender, "-", n), page("a")
		},
		"door: forged keys, 500 addresses": func(int, int) (string, string) {
			forged := schema.PublishableKeyText([]byte("another secret"), schema.NewID(), 1)
			return "/e/" + forged, page("a")
		},
		"door: one key, 500 addresses": func(sender, n int) (string, string) {
			return path, page(fmt.Sprint("b", sender, "-", n))
		},
		"door: one batch again and again": func(int, int) (string, string) { return path, page("c") },
		"door: other hosts": func(sender, n int) (string, string) {
			return path, strings.ReplaceAll(page(fmt.Sprint("d", sender, "-", n)), pageHost, "evil.example")
		},
	}
	var attacks []*attack
	for name := range knocks {
		attacks = append(attacks, &attack{name: name, addresses: 500})
	}
	ask := question{method: http.MethodGet, path: "/v1/user", token: node.Client.Token}
	idle, err := o.series(ctx, node, ask, attacks, func(a *attack) error {
		attacking, end := context.WithCancel(ctx)
		var senders sync.WaitGroup
		for i := range a.addresses {
			senders.Go(func() { a.send(attacking, node.Client.Address, i, knocks[a.name]) })
		}
		err := a.look(ctx, node, o, ask)
		end()
		senders.Wait()
		return err
	})
	if err != nil {
		return err
	}
	return judge(idle, attacks, o.Memory, 2)
}

// send sends an attack's requests from one address until ctx is done.
func (a *attack) send(ctx context.Context, address string, sender int, next knock) {
	from := net.IPv4(127, 0, byte(1+sender/250), byte(1+sender%250))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	every := time.Duration(a.addresses) * time.Second / doorRate
	// The senders begin one after the other, so that their requests do not arrive at the same time.
	select {
	case <-ctx.Done():
		return
	case <-time.After(every * time.Duration(sender) / time.Duration(a.addresses)):
	}
	pause := time.NewTicker(every)
	defer pause.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		path, body := next(sender, n)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			return
		}
		response, err := client.Do(request)
		if err != nil {
			continue // a node under attack may refuse connections
		}
		a.opened.Add(1)
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}
