package main

import "testing"

func TestOnLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:9000": true, "[::1]:9000": true, "127.9.9.9:1": true,
		"10.0.0.1:9000": false, "clickhouse:9000": false, "127.0.0.1.example.com:9000": false, "": false,
	} {
		if got := onLoopback([]string{address}); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
	if onLoopback([]string{"127.0.0.1:9000", "10.0.0.1:9000"}) {
		t.Error("one address that is not loopback must be enough")
	}
}
