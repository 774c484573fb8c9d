package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// proxy forwards the connections of one sink to the insights engine. It can cut an insert: it closes the connection
// after the engine has stored the rows and before the sink receives the response. It can also call a function when an
// insert begins. It parses ClickHouse's native protocol only as far as it must to notice inserts.
type proxy struct {
	listener net.Listener
	target   string
	// settled waits until the engine's running inserts have ended.
	settled func(context.Context) error

	mu      sync.Mutex
	links   map[*link]struct{}
	closed  bool
	cut     chan bool // if set: cut the next insert, and send whether the engine has stored its rows
	begun   func()    // if set: called when an insert begins; the insert continues after this call
	running sync.WaitGroup
}

// settleLimit is the longest time that the proxy waits until an insert has ended.
const settleLimit = 10 * time.Second

// startProxy listens on an address and forwards connections to the target.
func startProxy(ctx context.Context, address, target string, settled func(context.Context) error) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the insights engine's proxy: %w", err)
	}
	p := &proxy{listener: listener, target: target, settled: settled, links: map[*link]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// stop closes all connections and waits until every goroutine has ended.
func (p *proxy) stop() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for l := range p.links {
		l.close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *proxy) serve(client net.Conn) {
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp4", p.target)
	if err != nil {
		_ = client.Close() // the engine does not answer, so close the client's connection too
		return
	}
	l := &link{proxy: p, client: client, server: server}
	p.mu.Lock()
	if p.closed {
		l.close()
	} else {
		p.links[l] = struct{}{}
	}
	p.mu.Unlock()
	var up sync.WaitGroup
	up.Go(l.up)
	l.down()
	l.close()
	up.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// cutNext cuts the connection of the next insert before its response. `applied` is true if the engine has stored the
// rows. `cut` is false if no insert got a response before ctx was done.
func (p *proxy) cutNext(ctx context.Context) (applied, cut bool) {
	done := make(chan bool, 1)
	p.mu.Lock()
	p.cut = done
	p.mu.Unlock()
	select {
	case applied = <-done:
		return applied, true
	case <-ctx.Done():
	}
	p.mu.Lock()
	taken := p.cut != done
	p.cut = nil
	p.mu.Unlock()
	if taken {
		return <-done, true
	}
	return false, false
}

// atInsert calls f when the next insert begins, before the engine has received the whole INSERT statement. It returns
// false if no insert began before ctx was done.
func (p *proxy) atInsert(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	p.mu.Lock()
	p.begun = func() { f(); close(done) }
	p.mu.Unlock()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	taken := p.begun == nil
	p.begun = nil
	p.mu.Unlock()
	if taken {
		<-done
	}
	return taken
}

// link is one connection through the proxy.
type link struct {
	proxy          *proxy
	client, server net.Conn

	mu    sync.Mutex
	state linkState
	tail  []byte // the last bytes from the client, because a statement may arrive in two parts
}

type linkState uint8

const (
	idle    linkState = iota
	asked             // the client has sent an INSERT
	invited           // the server has sent the table's columns, and waits for rows
	sending           // the client sends rows
)

func (l *link) close() {
	_ = l.client.Close() // bytes that are not sent yet are lost, as when a connection breaks
	_ = l.server.Close()
}

const bufferSize = 64 << 10

// up forwards the client's bytes to the server.
func (l *link) up() {
	defer l.close()
	buffer := make([]byte, bufferSize)
	for {
		n, err := l.client.Read(buffer)
		if n > 0 {
			if l.fromClient(buffer[:n]) {
				l.proxy.insertBegins()
			}
			if _, err := l.server.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

var insertStatement = []byte("INSERT INTO ")

// fromClient updates the link's state from the client's bytes, and reports whether an insert begins.
func (l *link) fromClient(data []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == invited || l.state == sending {
		l.state = sending
		return false
	}
	text := append(l.tail, data...)
	if bytes.Contains(text, insertStatement) {
		l.state, l.tail = asked, nil
		return true
	}
	l.tail = append(l.tail[:0], text[max(0, len(text)-len(insertStatement)+1):]...)
	return false
}

func (p *proxy) insertBegins() {
	p.mu.Lock()
	f := p.begun
	p.begun = nil
	p.mu.Unlock()
	if f != nil {
		f()
	}
}

// Types of packets in the native protocol that end an insert.
const (
	packetException   = 2
	packetEndOfStream = 5
)

// down forwards the server's bytes to the client. If the bytes are the beginning of a response that must be cut, `down`
// does not forward them.
func (l *link) down() {
	buffer := make([]byte, bufferSize)
	for {
		n, err := l.server.Read(buffer)
		if n > 0 {
			if done := l.fromServer(buffer[:n]); done != nil {
				done <- l.withhold(buffer[n-1])
				return
			}
			if _, err := l.client.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// fromServer updates the link's state from the server's bytes. If the bytes must not be forwarded, it returns a
// channel. The caller sends to it whether the engine has stored the rows.
func (l *link) fromServer(data []byte) chan<- bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.state == asked && data[0] == packetException:
		l.state = idle
	case l.state == asked:
		l.state = invited
	case l.state == sending:
		l.proxy.mu.Lock()
		cut := l.proxy.cut
		l.proxy.cut = nil
		l.proxy.mu.Unlock()
		if cut != nil {
			return cut
		}
		if data[len(data)-1] == packetEndOfStream || data[0] == packetException {
			l.state = idle
		}
	}
	return nil
}

// withhold waits until the engine has finished the insert whose response is not forwarded. It reports whether the
// insert succeeded. `last` is the last byte of the response that has arrived so far.
func (l *link) withhold(last byte) (applied bool) {
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	if err := l.proxy.settled(ctx); err != nil {
		return last == packetEndOfStream // settled fails if the engine was killed
	}
	buffer := make([]byte, bufferSize)
	for last != packetEndOfStream {
		if err := l.server.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return false
		}
		n, err := l.server.Read(buffer)
		if n > 0 {
			last = buffer[n-1]
			continue
		}
		if err != nil {
			return false
		}
	}
	return true
}
