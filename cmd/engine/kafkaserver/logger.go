package kafkaserver

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kfake"
)

// logger passes the broker's own messages to slog. Its info level has a line per request, so it is this product's debug level.
type logger struct{ to *slog.Logger }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	var target slog.Level
	switch level {
	case kfake.LogLevelError:
		target = slog.LevelError
	case kfake.LogLevelWarn:
		target = slog.LevelWarn
	default:
		target = slog.LevelDebug
	}
	if l.to.Enabled(context.Background(), target) {
		l.to.Log(context.Background(), target, fmt.Sprintf(format, args...))
	}
}
