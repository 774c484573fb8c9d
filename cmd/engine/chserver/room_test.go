package chserver

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestAwaitRoom(t *testing.T) {
	t.Parallel()
	answers := []int64{0, roomToStart - 1, roomToStart}
	var log bytes.Buffer
	err := awaitRoom(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "", func(string) (int64, int64, error) {
		next := answers[0]
		answers = answers[1:]
		return next, 0, nil
	})
	if err != nil || len(answers) > 0 || strings.Count(log.String(), "The disk is full") != 1 {
		t.Errorf("%v, answers left: %d, logged %s", err, len(answers), log.String())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	full := func(string) (int64, int64, error) { return 0, 0, nil }
	if err := awaitRoom(ended, slog.New(slog.DiscardHandler), "", full); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
