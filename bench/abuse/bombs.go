package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/bench/machine"
)

const (
	// bombTime limits the duration of a merge. bombMemory limits the memory that a merge adds to the node, in MB.
	bombTime, bombMemory = 2 * time.Second, 64
)

// ruleBombs returns merge rules, by name. Each rule is a short text that computes a very large value.
func ruleBombs() map[string]string {
	grow := func(step string, levels int) string { return `["x"]` + strings.Repeat(step, levels) + `.size() > 0` }
	return map[string]string{
		"format":  grow(`.map(a,"%s%s%s%s%s%s%s%s%s%s".format([a,a,a,a,a,a,a,a,a,a]))`, 9),
		"replace": grow(`.map(a,a.replace("x","xxxxxxxxxx"))`, 14),
		"concat":  grow(`.map(a,a+a+a+a+a+a+a+a+a+a)`, 14),
		"join":    grow(`.map(a,[a,a,a,a,a,a,a,a,a,a].join(""))`, 14),
		"lists":   grow(`.map(a,[a,a,a,a,a,a,a,a,a,a])`, 14),
	}
}

// bombs measures merges in organizations whose merge rule needs a lot of memory or time. A rule that the server refuses
// to set also counts as passed.
func (o options) bombs(ctx context.Context, node *node) error {
	fmt.Printf("%-44s %8s %8s %8s\n", "a merge with a rule bomb", "MB", "peak MB", "ms")
	var failed []error
	for name, expression := range ruleBombs() {
		organization, err := node.Client.Create(ctx, "/v1/orgs", "Bomb")
		if err != nil {
			return err
		}
		space, err := node.Client.Create(ctx, "/v1/orgs/"+organization+"/spaces", "Bombed")
		if err != nil {
			return err
		}
		rules := map[string]any{"mergeRules": map[string]any{"type": "rules", "rules": []any{
			map[string]any{"rule": "custom", "expression": expression},
		}}}
		err = node.Client.Call(ctx, http.MethodPatch, "/v1/orgs/"+organization, rules, http.StatusOK, nil)
		if err != nil {
			fmt.Printf("%-44s %s\n", name, "is refused")
			continue
		}
		before := int(machine.Process(node.PID()).Memory("VmRSS"))
		peak, took, err := watchedMerge(ctx, node, space)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%-44s %8d %8d %8d\n", name, before, peak, took.Milliseconds())
		if took > bombTime || peak-before > bombMemory {
			failed = append(failed, fmt.Errorf("%s: a merge took %s and %d MB", name, took, peak-before))
		}
	}
	return errors.Join(failed...)
}

// watchedMerge merges a page, and returns the node's peak memory during the merge.
func watchedMerge(ctx context.Context, node *node, space string) (peak int, took time.Duration, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		page := map[string]any{"operation": "insert_page", "title": "Hello",
			"document": map[string]any{"markdown": "# Hi"}}
		took, err = changed(ctx, node, space, page)
	}()
	for {
		peak = max(peak, int(machine.Process(node.PID()).Memory("VmRSS")))
		select {
		case <-done:
			return peak, took, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}
