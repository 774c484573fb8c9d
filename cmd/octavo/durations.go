package main

import (
	"fmt"
	"reflect"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/common/model"
)

// durations returns an option of kong. With this option, durations in flags and settings may also have the units of
// Prometheus: days, weeks and years (of 365 days).
func durations() kong.Option {
	return kong.TypeMapper(reflect.TypeFor[time.Duration](),
		kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
			var text string
			if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
				return err
			}
			d, err := parseDuration(text)
			if err == nil {
				target.SetInt(int64(d))
			}
			return err
		}))
}

func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: use numbers with units, such as 90s, 36h or 20d", text)
	}
	return time.Duration(d), nil
}
