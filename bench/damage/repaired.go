package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/octavo-docs/octavo/bench/single"
)

// fromCopy removes a node's events and its log, and repairs the node from a damaged copy of its data directory. Both
// the repair command and the node must report the events that the copy does not have.
func (r *rig) fromCopy(ctx context.Context, c damageCase, n *single.Node, want []answer) (v verdict, err error) {
	copied := n.Dir + "-copy"
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := copyTree(r.stored, copied); err != nil {
		return v, err
	}
	t, err := r.target(copied, c)
	if err != nil {
		return v, err
	}
	taken, err := ways[c.way](t)
	if err != nil {
		return v, err
	}
	if err := r.loseEvents(n.Dir); err != nil {
		return v, err
	}
	if err := n.Start("--accept-loss=kafka"); err != nil {
		return v, err
	}
	if err := n.Ready(ctx); err != nil {
		return v, err
	}
	_, failed := n.Run(ctx, nil, "repair", "--yes", "--from", copied)
	if err := r.end(n); err != nil {
		return v, err
	}
	if v, err = r.look(ctx, n, c, t, taken, want); err != nil {
		return v, err
	}
	switch {
	case v.outcome == right && failed != nil:
		v = verdict{silent, "everything is there, but the repair fails: " + failed.Error()}
	case v.outcome == said && failed == nil:
		v = verdict{silent, "the repair succeeds, but the node says " + v.text}
	case v.outcome != right && c.way == "whole":
		v = verdict{silent, "an undamaged copy does not restore everything: " + v.text}
	}
	return v, nil
}

// loseEvents removes the log and all parts of the events table. The events table is the table with the largest part.
func (r *rig) loseEvents(dir string) error {
	list, err := r.find(dir, kind{name: "folder of a part", files: parts})
	if err != nil {
		return err
	}
	events, err := filepath.Glob(filepath.Join(filepath.Dir(list[0]), filepath.Base(parts)))
	for _, part := range events {
		err = errors.Join(err, os.RemoveAll(part))
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(dir, "kafka")))
}
