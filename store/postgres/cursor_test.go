package postgres_test

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

func TestCursors(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 891_234_000, time.UTC)
	times, err := postgres.ParseCursor[time.Time](postgres.Cursor[time.Time]{Key: at, ID: "a"}.Keys())
	if err != nil || !times.Key.Equal(at) || times.ID != "a" {
		t.Errorf("%+v, %v", times, err)
	}
	for _, at := range []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	} {
		if c, err := postgres.ParseCursor[time.Time](postgres.Cursor[time.Time]{
			Key: at, ID: "a",
		}.Keys()); err != nil || !c.Key.Equal(at) {
			t.Errorf("%v: %+v, %v", at, c, err)
		}
	}
	for _, position := range []int64{0, -1, 1 << 62} {
		if c, err := postgres.ParseCursor[int64](postgres.Cursor[int64]{
			Key: position, ID: "a",
		}.Keys()); err != nil || c.Key != position {
			t.Errorf("%d: %+v, %v", position, c, err)
		}
	}
	for _, rank := range []float32{0, 0.1, 0.0303964} {
		if c, err := postgres.ParseCursor[float32](postgres.Cursor[float32]{
			Key: rank, ID: "a",
		}.Keys()); err != nil || c.Key != rank {
			t.Errorf("%g: %+v, %v", rank, c, err)
		}
	}
	if c, err := postgres.ParseCursor[int64](nil); c != nil || err != nil {
		t.Errorf("first page: %+v, %v", c, err)
	}
	for _, keys := range [][]string{
		{"", "a"}, {"x", "a"}, {"NaN", "a"}, {"Inf", "a"}, {"-9223372036854775809", "a"}, {"1", ""}, {"1", "a b"}, {"1", "\x00"},
	} {
		_, timeErr := postgres.ParseCursor[time.Time](keys)
		_, placeErr := postgres.ParseCursor[int64](keys)
		_, rankErr := postgres.ParseCursor[float32](keys)
		for _, err := range []error{timeErr, placeErr, rankErr} {
			if !schema.IsCode(err, schema.CodeBadRequest) {
				t.Errorf("%q: %v", keys, err)
			}
		}
	}
	for _, key := range []string{"1772600767891234", "-1", "0000-12-31T23:59:59Z", "10000-01-01T00:00:00Z"} {
		if _, err := postgres.ParseCursor[time.Time]([]string{key, "a"}); !schema.IsCode(err, schema.CodeBadRequest) {
			t.Errorf("ParseCursor of %s returns %v, want %v", key, err, schema.CodeBadRequest)
		}
	}
}
