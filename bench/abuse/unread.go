package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/machine"
)

const (
	unreadConnections = 1500
	unreadAddresses   = 15
	// unreadMemory is the largest memory in MB that connections which do not read their answers may add to the node.
	unreadMemory = 60
	// unreadBefore is the number of requests whose answers are read before the measurement. After these requests, the
	// node's memory is as large as during ordinary work, so the garbage collector's cycle does not change the result.
	unreadBefore = 100
	// unreadHold is the time for which the connections stay open while the node's memory is measured.
	unreadHold = 15 * time.Second
	// unreadFile and unreadSpec are the sizes of the file and the specification that the connections request. The node
	// accepts specifications of at most 4 MiB.
	unreadFile, unreadSpec = 5 << 20, 3500 << 10
)

// unread measures the node's memory while connections without a token request large answers and do not read them.
func (o options) unread(ctx context.Context, node *node) error {
	paths, err := unreadPaths(ctx, node)
	if err != nil {
		return fmt.Errorf("cannot prepare what is not read: %w", err)
	}
	fmt.Printf("%-44s %8s %8s %8s %8s\n", "1,500 connections that do not read", "MB", "peak MB", "200", "refused")
	var failed []error
	for _, row := range []struct{ name, path string }{
		{"the API's document", "/v1/openapi.json"}, {"a signed file of 5 MiB", paths[0]},
		{"a public specification of 3.5 MB", paths[1]},
	} {
		if err := readBefore(ctx, node, row.path); err != nil {
			return err
		}
		before := int(machine.Process(node.PID()).Memory("VmRSS"))
		peak, served, refused := holdUnread(ctx, node, row.path)
		fmt.Printf("%-44s %8d %8d %8d %8d\n", row.name, before, peak, served, refused)
		if served == 0 {
			failed = append(failed, fmt.Errorf("%s: no connection was answered", row.name))
		}
		if peak-before > unreadMemory {
			failed = append(failed, fmt.Errorf("%s: the node took %d MB more", row.name, peak-before))
		}
	}
	return errors.Join(failed...)
}

// readBefore requests an answer unreadBefore times and reads it completely each time.
func readBefore(ctx context.Context, node *node, path string) error {
	for range unreadBefore {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+node.Client.Address+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return fmt.Errorf("cannot read %s: %w", path, err)
		}
	}
	return nil
}

// holdUnread opens the connections. It returns the node's peak memory, the number of connections with the status 200,
// and the number of other connections.
func holdUnread(ctx context.Context, node *node, path string) (peak, served, refused int) {
	ctx, end := context.WithTimeout(ctx, unreadHold)
	defer end()
	var workers sync.WaitGroup
	var mu sync.Mutex
	for i := range unreadConnections {
		workers.Go(func() {
			status := askUnread(ctx, node.Client.Address, path, i%unreadAddresses)
			mu.Lock()
			defer mu.Unlock()
			if status == "200" {
				served++
			} else {
				refused++
			}
		})
	}
	for ctx.Err() == nil {
		peak = max(peak, int(machine.Process(node.PID()).Memory("VmRSS")))
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	workers.Wait()
	return peak, served, refused
}

// askUnread sends a request and returns the status of the answer. It leaves the connection open until the end of the
// measurement, and reads nothing after the status.
func askUnread(ctx context.Context, address, path string, from int) string {
	dialer := net.Dialer{
		LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, byte(1+from))},
		Control: func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) {
				_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048)
			})
		},
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	line := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return ""
	}
	if _, err := io.ReadFull(conn, line); err != nil {
		return ""
	}
	<-ctx.Done()
	return string(line[len("HTTP/1.1 "):])
}

// unreadPaths stores a file and publishes a specification.
func unreadPaths(ctx context.Context, node *node) ([]string, error) {
	client := node.Client
	organization, err := client.Create(ctx, "/v1/orgs", "Unread")
	if err != nil {
		return nil, err
	}
	space, err := client.Create(ctx, "/v1/orgs/"+organization+"/spaces", "Files")
	if err != nil {
		return nil, err
	}
	content := make([]byte, unreadFile)
	_, _ = rand.Read(content)
	file := map[string]any{"operation": "insert_files", "files": []any{
		map[string]any{"name": "large.bin", "base64": base64.StdEncoding.EncodeToString(content)},
	}}
	if _, err := changed(ctx, node, space, file); err != nil {
		return nil, err
	}
	var revision struct {
		Files []struct{ DownloadURL string }
	}
	path := "/v1/spaces/" + space + "/content"
	if err := client.Call(ctx, http.MethodGet, path, nil, http.StatusOK, &revision); err != nil {
		return nil, err
	}
	if len(revision.Files) == 0 {
		return nil, errors.New("the space has no file")
	}
	signed, err := url.Parse(revision.Files[0].DownloadURL)
	if err != nil {
		return nil, err
	}
	text := `{"openapi":"3.1.0","info":{"title":"Large","version":"1"},"paths":{},"x-large":"` +
		string(bytes.Repeat([]byte("0123456789"), unreadSpec/10)) + `"}`
	path = "/v1/orgs/" + organization + "/openapi/large"
	source := map[string]any{"source": map[string]any{"text": text}}
	if err := client.Call(ctx, http.MethodPut, path, source, http.StatusCreated, nil); err != nil {
		return nil, err
	}
	public := map[string]any{"visibility": "public"}
	if err := client.Call(ctx, http.MethodPatch, path, public, http.StatusOK, nil); err != nil {
		return nil, err
	}
	return []string{strings.TrimPrefix(signed.RequestURI(), "//"), path + "/published"}, nil
}

// changed merges a change into a space, and returns the duration of the merge.
func changed(ctx context.Context, node *node, space string, change map[string]any) (time.Duration, error) {
	var request struct{ ID string }
	requests := "/v1/spaces/" + space + "/change-requests"
	if err := node.Client.Call(ctx, http.MethodPost, requests, []byte("{}"), http.StatusCreated, &request); err != nil {
		return 0, err
	}
	one := requests + "/" + request.ID
	changes := map[string]any{"changes": []any{change}}
	if err := node.Client.Call(ctx, http.MethodPost, one+"/content", changes, http.StatusOK, nil); err != nil {
		return 0, err
	}
	began := time.Now()
	status, err := node.do(ctx, question{http.MethodPost, one + "/merge", node.Client.Token, ""})
	if err == nil && status != http.StatusOK && status != http.StatusConflict {
		err = fmt.Errorf("the merge was answered %d", status)
	}
	return time.Since(began), err
}
